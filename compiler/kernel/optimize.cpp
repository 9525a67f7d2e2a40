// The passes over kernels, in order. Loads that no store in a loop can change are found by LLVM, which is told what
// aliases; here is what needs the structure of the loops.
#include "compiler/kernel/optimize.h"

#include "compiler/ir/canonicalize.h"
#include "compiler/ir/common_subexpressions.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"
#include "compiler/kernel/split_arrays.h"

using namespace mlir;

namespace strata::kernel {
namespace {

struct MoveInvariantsPass : PassWrapper<MoveInvariantsPass, OperationPass<svm::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MoveInvariantsPass)

  void runOnOperation() override {
    // Innermost first, so that what leaves one loop can leave the next.
    getOperation()->walk<WalkOrder::PostOrder>([](LoopLikeOpInterface loop) { svm::moveInvariants(loop); });
  }
};

} // namespace

std::unique_ptr<Pass> createMoveInvariantsPass() {
  return svm::makePass<MoveInvariantsPass>(svm::passes::MoveInvariants);
}

void addOptimizationPasses(PassManager& passes) {
  OpPassManager& kernels = passes.nest<svm::KernelOp>();
  kernels.addPass(createSplitArraysPass());
  kernels.addPass(svm::createCanonicalizePass());
  kernels.addPass(createMoveInvariantsPass());
  kernels.addPass(svm::createCommonSubexpressionsPass());
}

} // namespace strata::kernel
