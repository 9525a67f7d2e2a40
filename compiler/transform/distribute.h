// Distribution: parallel iterations become processors' parts.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a placed program. Every svm.spmd of iterations on processors becomes one of instances whose region loops over
/// the instance's share (contiguous, or block-cyclic in chunks); one that is on no processors becomes an scf.for.
/// Leaves no svm.spmd of iterations. REQUIRES: reductions have been expanded.
std::unique_ptr<mlir::Pass> createDistributePass();
} // namespace strata::transform
