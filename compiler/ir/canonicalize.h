// Canonical forms: MLIR's own pass without those of its patterns that compute the distance of a loop's bounds in 64
// bits. Of a loop from -2^63 + 7 to 7 these make a negative distance, and drop the loop, whatever it does.
#pragma once

#include "mlir/Pass/Pass.h"

namespace strata::svm {

/// Folds and simplifies operations as their dialects say. A loop with constant bounds, or whose upper bound is its
/// lower one and a constant without overflow, goes when it has no iterations, and becomes its body when it has one. Any
/// operation, any stage.
std::unique_ptr<mlir::Pass> createCanonicalizePass();

} // namespace strata::svm
