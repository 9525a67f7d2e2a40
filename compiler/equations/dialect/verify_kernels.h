// The rules of equations (verify.h) for all kernels of a program that hold some.
#pragma once

#include "base/source/diagnostic.h"

#include "mlir/IR/BuiltinOps.h"

namespace strata::equations {

/// False on errors (reported).
bool verifyKernels(mlir::ModuleOp module, DiagnosticEngine& diagnostics);

} // namespace strata::equations
