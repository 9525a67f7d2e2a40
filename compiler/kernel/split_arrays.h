// Small arrays of a kernel's own become a variable for each element where loops over them can be written out: what
// lanes have a form for, an array of each iteration's own not being one.
#pragma once

#include "mlir/Pass/Pass.h"

namespace strata::kernel {

/// Writes out the loops whose variables number the elements of local arrays, as long as bounds and indices come out as
/// constants, in the loops' order, and replaces such arrays by variables. An array that is indexed by anything else, or
/// beyond its ends, stays, and so do loops that would become long.
std::unique_ptr<mlir::Pass> createSplitArraysPass();

} // namespace strata::kernel
