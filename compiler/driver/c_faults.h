// What a run says when a function in C or C++ that it calls follows a null pointer or aborts. Programs themselves are
// checked where they could leave their arrays, so it is such a function that did this. Once a process.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace strata::driver {

/// Takes over faults from here on; the messages name the external tasks and functions of the program. They go through
/// the handler of run-time failures.
void reportFaultsInC(mlir::ModuleOp program);

} // namespace strata::driver
