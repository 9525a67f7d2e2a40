// Blocks that mirror a part of another: filled from it, emptied to it, or both, and nobody can tell the two apart while
// they do.
#pragma once

#include "compiler/ir/svm.h"
#include "compiler/transform/beside.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/SymbolTable.h"

#include <optional>

namespace strata::transform {

/// What a block mirrors: at most one move in, at most one out, and the view that both are of.
struct Mirror {
  svm::MoveOp in, out;
  mlir::Value view;
};

/// Looks for mirrors in one module. Takes placed programs.
class Mirrors {
public:
  explicit Mirrors(mlir::ModuleOp program) : program_(program), symbols_(program), beside_(program) {}

  /// Finds the mirrors among all blocks, and acts on each as it is found.
  void each(llvm::function_ref<bool(svm::BlockOp block, mlir::Value view)> suits,
            llvm::function_ref<void(svm::BlockOp block, Mirror mirror)> act);

private:
  /// What a block mirrors, so that it may be the view itself: nothing between its moves, or its first and last use,
  /// touches what the view is a view of, other than through the block; and the view is made before the block is used.
  /// For the code around, that holds by the front end's word in a `disjoint` scope, and is else decided by the roots of
  /// all blocks used meanwhile. Others that run beside it may touch the view once the two have ordered each other: a
  /// copy that is there across a fence, a stream or a wait stays, with a remark. `suits` says whether the view is one
  /// to ask about.
  std::optional<Mirror> find(svm::BlockOp block, llvm::function_ref<bool(mlir::Value view)> suits);
  bool readsOnly(svm::BlockOp block);

  mlir::ModuleOp program_;
  mlir::SymbolTable symbols_;
  const Beside beside_;
  mlir::DominanceInfo dominance_;
};

} // namespace strata::transform
