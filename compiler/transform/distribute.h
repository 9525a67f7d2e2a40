// Distribution: parallel iterations become processors' parts.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a placed program. Every svm.parallel on processors becomes svm.instances whose region loops over
/// the instance's share (contiguous, or block-cyclic in chunks); one that is on no processors becomes an scf.for.
/// Leaves no svm.parallel. REQUIRES: reductions have been expanded.
std::unique_ptr<mlir::Pass> createDistributePass();
} // namespace strata::transform
