// Asking for memory ahead of its use, where the processor cannot guess it: short pieces of rows that lie far apart.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace strata::kernel {

/// Asks for pieces of rows some rows before they are read, in kernels. Only of blocks whose elements the kernel reads
/// one row after another, or every few rows; whether rows are far apart, many, and pieces short is found out when it
/// runs. Takes and leaves svm.kernel.
std::unique_ptr<mlir::Pass> createPrefetchRowsPass();

} // namespace strata::kernel
