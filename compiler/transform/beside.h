// What runs beside a piece of control code, and where the two order each other: what a pass must know before it makes a
// copy earlier, later or not at all. Asked of placed programs before their loops are pipelined.
#pragma once

#include "compiler/ir/svm.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace strata::transform {

/// Looks at a module once; what is asked later is of operations that were in it then, or have been moved since.
class Beside {
public:
  explicit Beside(mlir::ModuleOp program);

  /// Whether other code may run while `op` does: another instance of a concurrent loop around it or around what calls
  /// it, or a run or move that goes on beside its starter, anywhere in the program.
  bool hasCompany(mlir::Operation* op) const;
  /// Whether `op`, what it holds or what it calls orders its instance with others: fences, pauses, streams, waiting.
  /// What the others write before that, and what they see of one's own writes, may differ before and behind it.
  bool isOrdering(mlir::Operation* op) const;
  /// Whether an operation from behind `first` up to `last` does, while something else may run. Null: to the end of the
  /// region. REQUIRES: `first` stands before `last`, in one block.
  bool isOrderedBetween(mlir::Operation* first, mlir::Operation* last) const;

private:
  bool isOrderingAlone(mlir::Operation* op) const;

  mlir::SymbolTable symbols_;
  llvm::DenseSet<mlir::Operation*> ordering_;   // functions and kernels that hold or call something that orders
  llvm::DenseSet<mlir::Operation*> concurrent_; // functions that a concurrent loop calls
  bool hasTokens_ = false;
};

} // namespace strata::transform
