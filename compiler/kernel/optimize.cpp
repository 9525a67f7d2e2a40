// The passes over kernels, in order. Loads that no store in a loop can change are found by LLVM, which is told what
// aliases; here is what needs the structure of the loops.
#include "compiler/kernel/optimize.h"

#include "compiler/ir/svm.h"

#include "mlir/Transforms/Passes.h"

namespace strata::kernel {

void addOptimizationPasses(mlir::PassManager& passes) {
  mlir::OpPassManager& kernels = passes.nest<svm::KernelOp>();
  kernels.addPass(mlir::createCanonicalizerPass());
  // Extents, row starts and other index arithmetic leave the loops that they do not depend on.
  kernels.addPass(mlir::createLoopInvariantCodeMotionPass());
  kernels.addPass(mlir::createCSEPass());
}

} // namespace strata::kernel
