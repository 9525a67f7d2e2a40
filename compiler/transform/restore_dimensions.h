// Arrays of rows that C reaches by the number of an element are reached by row and column again.
#pragma once

#include "mlir/Pass/Pass.h"

namespace strata::transform {

/// Takes a program whose checks have been proved as far as they can be. In a kernel, accesses to all elements of a
/// block of two dimensions as one become accesses to its rows and columns, where RangeAnalysis proves that each stays
/// within them: who looks for what rows have in common, or for stores that meet, then sees it. Blocks that are reached
/// in other ways too stay as they are.
std::unique_ptr<mlir::Pass> createRestoreDimensionsPass();

} // namespace strata::transform
