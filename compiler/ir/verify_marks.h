// What the marks of a logical program's operations claim (attributes.def), read off the program itself. A mark
// frees an access from a check of the interpreter, so that one which is not true would let a fault pass.
#pragma once

#include "mlir/IR/Operation.h"

namespace strata::svm {

/// Errors go through MLIR's diagnostics, at the operation with the mark. REQUIRES: `op` is verified.
mlir::LogicalResult verifyMarks(mlir::Operation* op);

} // namespace strata::svm
