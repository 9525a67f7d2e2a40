// Proves the marks of a logical program's operations (attributes.def) from the program itself. A mark frees an access
// from a check of the interpreter, so a false one would hide a fault.
#pragma once

#include "mlir/IR/Operation.h"

namespace strata::svm {

/// Errors go through MLIR's diagnostics, at the operation with the mark. REQUIRES: `op` is verified.
mlir::LogicalResult verifyMarks(mlir::Operation* op);

} // namespace strata::svm
