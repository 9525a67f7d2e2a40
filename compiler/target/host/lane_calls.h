// Functions of the C library for the lanes of a register become calls of the runtime's.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace strata::host {

/// Replaces operations of the math dialect on vectors that are no instruction by calls of functions that the runtime
/// has for lanes (runtime/core/lane_functions.h), through memory, so that any processor may carry them out.
void callLaneFunctions(mlir::ModuleOp program);

} // namespace strata::host
