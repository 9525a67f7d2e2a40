// Verifies moves that go on beside their starter, and the blocks in explicit memories that they fill and empty.
#pragma once

#include "base/machine/machine.h"
#include "compiler/ir/svm.h"

namespace strata::mapping {

/// What must hold of the blocks of a function: nobody touches one while a move fills it, nobody writes one while a move
/// empties it, no move fills one that another empties, and nobody loses the last token of such a move. Blocks that
/// loops carry from iteration to iteration stay different ones.
void verifyTransfers(mlir::func::FuncOp function, const Machine& machine, DiagnosticEngine& diagnostics);

} // namespace strata::mapping
