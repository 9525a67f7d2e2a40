// Which blocks of a loop's iteration can be filled before the iteration begins, and which emptied behind it: the
// question that software pipelining asks. It looks at the program and changes nothing.
#pragma once

#include "base/machine/machine.h"
#include "compiler/ir/svm.h"

#include <string>
#include <utility>
#include <vector>

namespace strata::transform {

/// A region of the iteration that is entered at most once, and whether its branch is the one for a false condition. A
/// scope has no condition, nor has what one other processor executes.
struct Container {
  mlir::Operation* op;
  bool otherwise = false;
};

/// A block of which several buffers exist while the loop runs.
struct Ring {
  svm::BlockOp block;
  llvm::SmallVector<Container> around; // from the loop's body inwards
  llvm::SmallVector<svm::MoveOp> ins;  // that fill it, and can be made ahead
  llvm::SmallVector<svm::MoveOp> outs; // that empty it, and can go on behind
  llvm::SmallVector<int64_t> bounds;   // static bounds of its extents
  std::string name() const;
};

struct PipelinePlan {
  std::vector<Ring> rings;
  /// Checks of an iteration that come before its transfers, with the regions around them, in order: they are made ahead
  /// too. Operations whose regions hold nothing but checks and pure operations count as one.
  std::vector<std::pair<mlir::Operation*, llvm::SmallVector<Container>>> checks;
  /// Why a transfer of the loop stays as it is; empty when none does.
  std::string reason;
};

/// The machine says what a processor can move; null: everything. REQUIRES: the loop's iterations were parallel in the
/// source (svm.parallel).
PipelinePlan planPipeline(mlir::scf::ForOp loop, const Machine* machine);

/// Whether a value can be computed for another iteration: operations without effects on the loop's variable and on
/// values from outside, loads of what the loop does not write by the processor that executes it, and extents of the
/// iteration's blocks.
bool isComputable(mlir::Value value, mlir::scf::ForOp loop);

} // namespace strata::transform
