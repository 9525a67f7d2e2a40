// Prefetching: asks for memory ahead of its use where the processor cannot guess it, in loops over short pieces of rows
// that lie far apart.
#pragma once

#include "base/machine/figures.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace strata::kernel {

/// Asks for pieces of rows some rows before they are read, in kernels. Only of blocks whose elements the kernel reads
/// one row after another, or every few rows; whether rows are far apart, many, and pieces short is found out when it
/// runs. Takes and leaves svm.kernel. Its options `line`, `page`, `cache` and `memory-latency` are the figures of the
/// same names.
std::unique_ptr<mlir::Pass> createPrefetchRowsPass();
/// The same with a machine's figures.
std::unique_ptr<mlir::Pass> createPrefetchRowsPassFor(const machine::Figures& figures);

} // namespace strata::kernel
