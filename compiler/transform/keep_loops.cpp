// A loop is kept by any effect of its own that no pass can remove; it gets one where it has none.
#include "compiler/transform/keep_loops.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

/// Whether an operation, without its regions, may be erased with all that uses it, or moved away.
bool canVanish(Operation* op) {
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return rootOf(store.getMemRef()).getDefiningOp<memref::AllocaOp>() != nullptr;
  return isa<memref::LoadOp, CheckOp, IndexOp, CountOp>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
         op->getNumRegions() || isMemoryEffectFree(op);
}

struct KeepLoopsPass : PassWrapper<KeepLoopsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepLoopsPass)

  void runOnOperation() override {
    getOperation().walk([](scf::WhileOp loop) {
      bool canGo =
          !loop->walk([](Operation* op) { return canVanish(op) ? WalkResult::advance() : WalkResult::interrupt(); })
               .wasInterrupted();
      if (canGo)
        OpBuilder::atBlockBegin(loop.getAfterBody()).create<StayOp>(loop.getLoc());
    });
  }
};

} // namespace

std::unique_ptr<Pass> createKeepLoopsPass() {
  return svm::makePass<KeepLoopsPass>(svm::passes::KeepLoops);
}

} // namespace strata::transform
