// Reductions become private copies and a tree of combiner calls.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a placed program. Each svm.parallel with reductions becomes: private copies, the same loop without reductions,
/// and the tree that combines the copies (pairs at distance 1, 2, 4, …), all as blocks, moves and runs that later
/// passes treat like any other. The shape depends on the mapping's number of parts and the number of iterations alone.
std::unique_ptr<mlir::Pass> createExpandReductionsPass();
} // namespace strata::transform
