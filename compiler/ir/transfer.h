// What copies blocks, seen alike: svm.move, svm.gather and svm.scatter. For code to which it matters what is copied
// from where to where, and not which of the operation's parts the indices name. Values of the program, owned by it.
#pragma once

#include "compiler/ir/svm.h"

#include <optional>

namespace strata::svm {

struct Transfer {
  mlir::Operation* op;
  mlir::TypedValue<mlir::MemRefType> source, destination;
  mlir::TypedValue<mlir::MemRefType> indices; // null: a move
  mlir::OperandRange after;
  mlir::Value token; // null: it ends before the next operation begins

  bool scatters() const { return llvm::isa<ScatterOp>(op); }
  /// The side of which every element is copied; of a move, either.
  mlir::TypedValue<mlir::MemRefType> whole() const { return llvm::isa<GatherOp>(op) ? destination : source; }
  /// REQUIRES: indices. The side whose first dimension they index.
  mlir::TypedValue<mlir::MemRefType> indexed() const { return scatters() ? destination : source; }
};

/// An operation as a transfer, or nothing.
std::optional<Transfer> transferOf(mlir::Operation* op);

/// Whether an operation is a transfer that only reads what is its operand.
bool isReadByTransfer(const mlir::OpOperand& operand);

} // namespace strata::svm
