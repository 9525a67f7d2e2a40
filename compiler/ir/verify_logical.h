// What a logical program must satisfy beyond what each operation verifies: the operations, types and entry points that
// every later phase can take. Shares no code with those phases. Errors go through MLIR's diagnostics, each at the
// operation that is at fault.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace strata::svm {

/// Operations within operations that a program may hold; readers and passes recurse over them.
constexpr unsigned maximumNesting = 256;

/// REQUIRES: `program` is verified.
mlir::LogicalResult verifyLogical(mlir::ModuleOp program);

} // namespace strata::svm
