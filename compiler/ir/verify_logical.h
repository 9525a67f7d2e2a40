// What a logical program must satisfy beyond what each operation verifies: the operations, types and entry points that
// every later phase can take. Shares no code with those phases. Errors go through MLIR's diagnostics, each at the
// operation that is at fault.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace strata::svm {

/// Operations within operations that a program may hold; readers and passes recurse over them.
constexpr unsigned maximumNesting = 256;

/// REQUIRES: `program` is verified.
mlir::LogicalResult verifyLogical(mlir::ModuleOp program);

/// The arguments of control functions that are written, directly, through views, or by what they are given to.
llvm::DenseSet<mlir::Value> findWrittenArguments(mlir::ModuleOp program);

/// The part of it that is about arguments: none that is "read" is written, and no block is given to one operation twice
/// where that writes it.
mlir::LogicalResult verifyAccess(mlir::ModuleOp program);

} // namespace strata::svm
