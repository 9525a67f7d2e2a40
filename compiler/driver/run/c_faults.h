// What a run says when a function in C or C++ that it calls follows a null or a wild pointer, or aborts. Programs in a
// notation are checked where they could leave their arrays, so such a fault is always that of a function in C. Set once
// in a process.
#pragma once

#include "runtime/abi.h"

#include "mlir/IR/BuiltinOps.h"

namespace strata::driver {

/// Takes over faults from here on; the messages name the external tasks and functions of the program. They go through
/// the handler of run-time failures; but after a wild pointer, which `show` tells, the process ends by its signal, as
/// it would have, since the memory of the run may be damaged.
void reportFaultsInC(mlir::ModuleOp program, StrataFailureHandler show);

} // namespace strata::driver
