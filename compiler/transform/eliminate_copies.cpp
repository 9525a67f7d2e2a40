// Copy elimination: a block that mirrors a view in its own memory, with the block's view type, is the view itself.
#include "compiler/transform/eliminate_copies.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"
#include "compiler/transform/mirror.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

void countElided(OpBuilder& builder, MoveOp move) {
  Value one = builder.create<arith::ConstantIndexOp>(move.getLoc(), 1);
  builder.create<CountOp>(move.getLoc(), "moves elided", one);
}

struct EliminateCopiesPass : PassWrapper<EliminateCopiesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EliminateCopiesPass)

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    Mirrors(getOperation())
        .each([](BlockOp block, Value view) { return view.getType() == block.getBlock().getType(); },
              [](BlockOp block, Mirror mirror) { replace(block, mirror); });
  }

  static void replace(BlockOp block, Mirror mirror) {
    (mirror.in ? mirror.in : mirror.out).emitRemark() << "no copy: '" << block.getLabel().value_or("a block")
                                                      << "' is the part of the array that it would be a copy of";
    OpBuilder builder(mirror.in ? mirror.in : mirror.out);
    for (MoveOp move : {mirror.in, mirror.out})
      if (move) {
        builder.setInsertionPoint(move);
        countElided(builder, move);
        move.erase();
      }
    block.getBlock().replaceAllUsesWith(mirror.view);
    block.erase();
  }
};

} // namespace

std::unique_ptr<Pass> createEliminateCopiesPass() {
  return svm::makePass<EliminateCopiesPass>(svm::passes::EliminateCopies);
}

} // namespace strata::transform
