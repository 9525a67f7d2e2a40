// Kernels of equations, executed by their definition (compiler/equations/interpret.h): the interpreter never sees loops
// in their place.
#pragma once

#include "compiler/interpret/interpreter.h"

#include "mlir/IR/BuiltinOps.h"

namespace strata::interpret {

/// A stand-in for each kernel of equations of a program, by its symbol.
std::map<std::string, ExternalKernel> equationKernels(mlir::ModuleOp module);

} // namespace strata::interpret
