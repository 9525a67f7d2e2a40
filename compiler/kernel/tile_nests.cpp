// The pass that tiles nests whose loops are proved independent. A nest is made ready on a copy, so that one that finds
// no tile stays as it was, for the passes behind.
#include "compiler/ir/passes.h"
#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"
#include "compiler/kernel/figure_options.h"
#include "compiler/kernel/instance_tiles.h"
#include "compiler/kernel/nests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

struct TileNestsPass : PassWrapper<TileNestsPass, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileNestsPass)
  void getDependentDialects(DialectRegistry& registry) const final { registry.insert<vector::VectorDialect>(); }

  TileNestsPass() = default;
  TileNestsPass(const TileNestsPass& other) : PassWrapper(other) {}
  explicit TileNestsPass(const machine::Figures& figures) {
    vector_ = figures.vectorBytes;
    registers_ = figures.vectorRegisters;
    latency_ = figures.vectorLatency;
  }

  LogicalResult initialize(MLIRContext* context) override {
    return success(isPossible(context, machine::vectorRule, vector_) &&
                   isPossible(context, machine::vectorRegistersRule, registers_) &&
                   isPossible(context, machine::vectorLatencyRule, latency_));
  }

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isStructured() || kernel.isShared() || kernel.getMayAlias())
      return;
    figures_.vectorBytes = vector_;
    figures_.vectorRegisters = registers_;
    figures_.vectorLatency = latency_;
    SmallVector<scf::ForOp> open;
    kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      open.push_back(loop);
      return WalkResult::skip();
    });
    // The outermost loop of a nest first, then those in it.
    while (!open.empty()) {
      scf::ForOp nest = open.pop_back_val();
      if (isDone(nest) || tile(nest))
        continue;
      nest.getBody()->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
        open.push_back(loop);
        return WalkResult::skip();
      });
    }
  }

private:
  /// A nest that another pass has tiled, or that holds no loop.
  static bool isDone(scf::ForOp nest) {
    bool holdsLoop = false;
    const bool isTiled = nest->walk([&](Operation* op) {
                               holdsLoop |= op != nest && isa<scf::ForOp>(op);
                               const bool isMarked = isa<scf::ForOp>(op) && SvmDialect::unorderedAttr.isOn(op);
                               const bool isVector = llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
                               return isMarked || isVector ? WalkResult::interrupt() : WalkResult::advance();
                             })
                             .wasInterrupted();
    return isTiled || !holdsLoop;
  }

  bool tile(scf::ForOp nest) {
    OpBuilder builder(nest);
    const mlir::Location place = nest.getLoc();
    // The copy stands in a block of its own until it is settled, with the variables that are the nest's alone.
    auto holder = builder.create<scf::IfOp>(place, builder.create<arith::ConstantIntOp>(place, 1, 1), false);
    builder.setInsertionPointToStart(holder.thenBlock());
    IRMapping copies;
    SmallVector<Operation*> variables;
    nest->walk([&](Operation* op) {
      for (Value operand : op->getOperands())
        if (auto variable = operand.getDefiningOp<memref::AllocaOp>();
            variable && !llvm::is_contained(variables, variable.getOperation()) &&
            llvm::all_of(variable->getUsers(), [&](Operation* user) { return nest->isProperAncestor(user); })) {
          variables.push_back(variable);
          builder.clone(*variable, copies);
        }
    });
    auto copy = cast<scf::ForOp>(builder.clone(*nest, copies));
    std::optional<TilePlan> plan;
    if (const std::optional<Nest> ordered = orderNest(copy)) {
      for (scf::ForOp loop : ordered->parallel)
        SvmDialect::unorderedAttr.set(loop);
      scf::ForOp lanes = ordered->lanes();
      for (scf::ForOp loop : llvm::reverse(ordered->parallel)) {
        moveInvariants(loop);
        tightenBounds(loop);
        moveInvariants(loop);
      }
      TileProblem problem;
      plan = planTile(lanes, rowsAround(lanes), figures_, problem);
      for (scf::ForOp loop : ordered->parallel)
        loop->removeAttr(SvmDialect::unorderedAttr);
    }
    if (!plan) {
      Operation* condition = holder.getCondition().getDefiningOp();
      holder.erase();
      condition->erase();
      return false;
    }
    writeTile(*plan);
    Block* made = holder.thenBlock();
    made->getTerminator()->erase();
    holder->getBlock()->getOperations().splice(holder->getIterator(), made->getOperations());
    holder.erase();
    nest.erase();
    for (Operation* variable : variables)
      if (variable->use_empty())
        variable->erase();
    return true;
  }

  machine::Figures figures_;
  Option<uint64_t> vector_{*this, options::nestVector.name, llvm::cl::desc(options::nestVector.meaning),
                           llvm::cl::init(options::nestVector.usual)};
  Option<uint64_t> registers_{*this, options::nestRegisters.name, llvm::cl::desc(options::nestRegisters.meaning),
                              llvm::cl::init(options::nestRegisters.usual)};
  Option<uint64_t> latency_{*this, options::nestLatency.name, llvm::cl::desc(options::nestLatency.meaning),
                            llvm::cl::init(options::nestLatency.usual)};
};

} // namespace

std::unique_ptr<Pass> createTileNestsPass() {
  return svm::makePass<TileNestsPass>(svm::passes::TileNests);
}

std::unique_ptr<Pass> createTileNestsPassFor(const machine::Figures& figures) {
  return svm::makePass<TileNestsPass>(svm::passes::TileNests, figures);
}

} // namespace strata::kernel
