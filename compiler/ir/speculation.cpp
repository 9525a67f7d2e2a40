// The answers stand on MLIR's interfaces, but for divisions: those are looked at here.
#include "compiler/ir/speculation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace strata::svm {

bool dividesSafely(Operation* op) {
  const bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
  if (!isSigned && !isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
    return true;
  APInt divisor;
  return matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) && !divisor.isZero() &&
         !(isSigned && divisor.isAllOnes());
}

bool canExecuteAnywhere(Operation* op) {
  if (!isPure(op))
    return false;
  return !op->walk([](Operation* inner) {
              return dividesSafely(inner) ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

void moveInvariants(LoopLikeOpInterface loop) {
  moveLoopInvariantCode(
      loop.getLoopRegions(), [&](Value value, Region*) { return loop.isDefinedOutsideOfLoop(value); },
      [](Operation* op, Region*) { return canExecuteAnywhere(op); },
      [&](Operation* op, Region*) { loop.moveOutOfLoop(op); });
}

} // namespace strata::svm
