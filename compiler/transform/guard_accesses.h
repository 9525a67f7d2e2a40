// Checks of what an operation takes for granted, made explicit.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a logical program that verifies and that no front end vouches for: one written in the dialect. Leaves it with
/// checks before everything that is undefined otherwise: indices of accesses, ranges of views, extents of blocks, of
/// moves and of kernel arguments, divisors, shifts and steps of loops, and parts of one array that are used at once.
/// prove-in-range erases the index checks that cannot fail.
std::unique_ptr<mlir::Pass> createGuardAccessesPass();
} // namespace strata::transform
