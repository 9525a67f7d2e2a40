// A check of lowered programs: what parts capture.
#pragma once

#include "mlir/Pass/Pass.h"

namespace strata::host {

/// Fails on a program in the LLVM dialect of which a part, or a run beside its starter, captures the address of a
/// variable on the stack of the starter. Changes nothing.
std::unique_ptr<mlir::Pass> createVerifyClosuresPass();

} // namespace strata::host
