// Which operations may be speculated: executed where the program would not have come to them. This is the one place
// that decides it, for every pass that moves, copies or vectorises operations. MLIR's own answer is not used elsewhere:
// it takes remainders, and quotients that are rounded down, for operations that cannot trap.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace strata::svm {

/// Whether a division or remainder, of any kind, has a result for every dividend: its divisor is a constant, not 0, and
/// not -1 where signed. True for operations that do not divide.
bool dividesSafely(mlir::Operation* op);

/// Whether an operation, with all that is in its regions, has no effect, reads nothing, and ends for all operands.
bool canExecuteAnywhere(mlir::Operation* op);

/// Moves out of a loop what does not depend on it and can be executed although the loop may not be entered.
void moveInvariants(mlir::LoopLikeOpInterface loop);

} // namespace strata::svm
