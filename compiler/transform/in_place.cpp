// For each block that mirrors a part of a distributed one it is asked once, in front of its first use, whether the part
// is in the processor's own memory; its moves stay for where it is not.
#include "compiler/transform/in_place.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"
#include "compiler/transform/builders.h"
#include "compiler/transform/mirror.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

struct InPlacePass : PassWrapper<InPlacePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InPlacePass)

  InPlacePass() = default;
  InPlacePass(const InPlacePass& other) : PassWrapper(other) {
    joined = other.joined;
    counts = other.counts;
  }
  InPlacePass(const Machine& machine, bool isCounted) {
    counts = isCounted;
    SmallVector<std::string> pairs;
    for (const machine::Memory& memory : machine.memories)
      if (memory.isVirtual())
        pairs.push_back(memory.name + "=" + machine[memory.over].name);
    joined = pairs;
  }

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    if (joined.empty())
      return;
    Mirrors(getOperation())
        .each([&](BlockOp block, Value view) { return isUnder(block, view); },
              [&](BlockOp block, Mirror mirror) { askFor(block, mirror); });
  }

  void askFor(BlockOp block, Mirror mirror) {
    OpBuilder builder(block);
    Operation* made = mirror.view.getDefiningOp();
    const bool isMadeBehind = made && made->getBlock() == block->getBlock() && block->isBeforeInBlock(made);
    builder.setInsertionPointAfter(isMadeBehind ? made : block.getOperation());
    auto inPlace = builder.create<InPlaceOp>(block.getLoc(), block.getBlock().getType(), builder.getI1Type(),
                                             block.getBlock(), mirror.view);
    block.getBlock().replaceAllUsesExcept(inPlace.getHere(), inPlace);
    (mirror.in ? mirror.in : mirror.out).emitRemark()
        << "no copy where the part of the array lies together in the processor's own memory: '"
        << block.getLabel().value_or("a block") << "' is that part then";
    for (MoveOp move : {mirror.in, mirror.out}) {
      if (!move)
        continue;
      builder.setInsertionPoint(move);
      auto branch = builder.create<scf::IfOp>(move.getLoc(), inPlace.getIsApart(), /*withElseRegion=*/counts);
      move->moveBefore(branch.thenBlock()->getTerminator());
      if (counts)
        countInPlace(branch, move, memoryOf(block.getBlock().getType()));
    }
  }

  /// The bytes of a move that is not made, as svm-instrument counts those that are.
  static void countInPlace(scf::IfOp branch, MoveOp move, StringRef memory) {
    OpBuilder builder = branch.getElseBodyBuilder();
    IndexMath math(builder, move.getLoc());
    Value bytes =
        math.constant(static_cast<int64_t>(RecordType::sizeInBytes(move.getSource().getType().getElementType())));
    for (Value extent : extentsOf(builder, move.getLoc(), move.getDestination()))
      bytes = math.mul(bytes, extent);
    builder.create<CountOp>(move.getLoc(), ("bytes in place " + memory).str(), bytes);
  }

  /// Whether the view is in a virtual memory that joins the block's, and lies as it does within a row.
  bool isUnder(BlockOp block, Value view) const {
    const auto own = block.getBlock().getType(), other = cast<MemRefType>(view.getType());
    return withMemory(other, memoryOf(own)) == own &&
           llvm::is_contained(joined, (memoryOf(other) + "=" + memoryOf(own)).str());
  }

  ListOption<std::string> joined{*this, "joined", llvm::cl::desc("virtual memories: space=memory,…")};
  Option<bool> counts{*this, "counts", llvm::cl::desc("whether bytes of moves that are not made are counted")};
};

} // namespace

std::unique_ptr<Pass> createInPlacePass() {
  return svm::makePass<InPlacePass>(svm::passes::InPlace);
}

std::unique_ptr<Pass> createInPlacePassFor(const Machine& machine, bool counts) {
  return svm::makePass<InPlacePass>(svm::passes::InPlace, machine, counts);
}

} // namespace strata::transform
