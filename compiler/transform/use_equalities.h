// Sizes that a check has found equal become one size.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a program at any stage. Behind an svm.check that two integers are equal, uses of one become uses of the other,
/// so that bounds computed from two arrays of one size are seen to be the same. Leaves the checks.
std::unique_ptr<mlir::Pass> createUseEqualitiesPass();
} // namespace strata::transform
