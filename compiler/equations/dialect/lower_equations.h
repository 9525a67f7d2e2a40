// Kernels of equations become structured ones: loops that isl generates for an order in which every value is computed
// before it is used, with storage for instances only as long as they are needed.
#pragma once

#include "mlir/Pass/Pass.h"

namespace strata::equations {

/// Takes a logical program and leaves loops in place of every svm.equations, and in front of each run of such a kernel
/// blocks for what it keeps from one iteration to later ones. The order of iterations is the same on every machine.
///
/// Storage folds: of a variable that is used at most m steps later along the outermost dimension that any use moves
/// along, m + 1 steps are kept (m, where each use comes before the definition), and nothing of the dimensions around
/// it.
std::unique_ptr<mlir::Pass> createLowerEquationsPass();

} // namespace strata::equations
