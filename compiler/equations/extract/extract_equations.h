// Structured kernels become kernels of equations where that is possible.
#pragma once

#include "mlir/Pass/Pass.h"

namespace strata::equations {

/// Takes a logical program. A kernel gets an argument for each size that bounds mention, and one more for an array that
/// it reads and writes: runs hand it a copy, made in front of them. A kernel that has no equations stays as it is, and
/// a remark says why.
std::unique_ptr<mlir::Pass> createExtractEquationsPass();

} // namespace strata::equations
