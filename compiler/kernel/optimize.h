// Optimisation of kernels: what is done to the bodies of structured kernels before they become functions. This is the
// place of the kernel compiler's loop transformations, for every notation and target.
#pragma once

#include "mlir/Pass/PassManager.h"

namespace strata::kernel {

/// Adds the passes that optimise kernels, in order. They take kernels that verify and leave kernels that compute the
/// same bits: nothing is contracted, reassociated or changed in precision. Control functions are left alone.
void addOptimizationPasses(mlir::PassManager& passes);

/// Moves what does not depend on a kernel's loops out of them: extents, row starts and other index arithmetic, nothing
/// that could trap where the loop is not entered.
std::unique_ptr<mlir::Pass> createMoveInvariantsPass();

} // namespace strata::kernel
