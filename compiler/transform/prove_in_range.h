// Removal of index checks that cannot fail.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a program at any stage. Erases each svm.index that RangeAnalysis proves, for all sizes, and each that repeats
/// a check which has been passed before it. What is left is checked when the program runs; nothing is moved.
std::unique_ptr<mlir::Pass> createProveInRangePass();
} // namespace strata::transform
