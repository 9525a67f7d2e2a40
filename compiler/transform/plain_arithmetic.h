// Arithmetic that says no more than it computes.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a logical program and leaves arithmetic without promises: that a sum does not overflow, that a number is none
/// of the special ones. Whoever made them did not prove them; prove-no-overflow says what is proved. Casts from index
/// to fewer bits become truncations of 64 bits: MLIR 19's canonicaliser folds a cast from index to fewer bits and back
/// to nothing (tests/transform/index_casts.mlir notices when it no longer does). Signed quotients that are rounded up
/// become ones that are rounded towards 0: MLIR 19 expands the former to divisions that trap for the largest number and
/// -1.
std::unique_ptr<mlir::Pass> createPlainArithmeticPass();
} // namespace strata::transform
