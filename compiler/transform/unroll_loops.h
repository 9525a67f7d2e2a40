// Unrolling and flattening of loops that placement marked with `svm.unroll` or `svm.flatten`.
#pragma once

#include "mlir/Pass/Pass.h"

namespace strata::transform {

/// Takes a placed program whose copies are settled. A loop with `svm.unroll` K gets K copies of its body an iteration,
/// and a second loop for the iterations that remain; one with `svm.flatten` is replaced by a copy of its body for each
/// iteration (its bounds are constants, as checkFlattening made sure). The order of iterations stays, and with it every
/// bit of a result.
std::unique_ptr<mlir::Pass> createUnrollLoopsPass();

/// Operations of all copies together. Flattening to more is refused, and unrolling makes fewer copies.
constexpr int64_t mostUnrolledOperations = 1 << 14;
/// Operations of a loop's body, those of inner regions included, and as often as loops in it are to be copied.
int64_t operationsOf(mlir::Region& body);

} // namespace strata::transform
