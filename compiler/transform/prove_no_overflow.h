// Overflow that cannot happen, said where it is proved.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a program without promises in its arithmetic, and marks the sums, differences, products and shifts that fit
/// their type whenever they are computed (nsw). This is the only place that says so; code generators rely on it.
std::unique_ptr<mlir::Pass> createProveNoOverflowPass();
} // namespace strata::transform
