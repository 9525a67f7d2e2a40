// Figures of a run: which accesses of distributed arrays are local to the processor that makes them.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a logical program: placement may gather distributed arrays into one memory. In every kernel that knows its
/// processor's number (an argument with svm.instance) adds the bytes of each load and store of a distributed block in
/// memory M to one of the figures "read local M", "read remote M", "read global M", and the same with "write". Global
/// is a memory that belongs to no processor. The kernel adds them up in variables of its own and counts once, at its
/// end.
std::unique_ptr<mlir::Pass> createCountAccessesPass();
} // namespace strata::transform
