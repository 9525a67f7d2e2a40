// What LLVM's ScalarEvolution says of a loop's exit, and a variable that goes along.
#include "compiler/raise/counted_loops.h"

namespace strata::raise {

const CountedLoop* CountedLoops::of(const llvm::Loop* loop) {
  auto found = known_.find(loop);
  if (found == known_.end())
    found = known_.emplace(loop, find(loop)).first;
  return found->second ? &*found->second : nullptr;
}

/// Whether an expression can be written in front of the loop.
bool CountedLoops::isKnownBefore(const llvm::SCEV* expression, const llvm::Loop* loop) {
  return analyses_.evolution.isLoopInvariant(expression, loop) &&
         !llvm::SCEVExprContains(expression, [](const llvm::SCEV* part) {
           const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
           return (unknown && unknown->getType()->isPointerTy()) ||
                  llvm::isa<llvm::SCEVCouldNotCompute, llvm::SCEVPtrToIntExpr, llvm::SCEVVScale,
                            llvm::SCEVSequentialUMinExpr>(part);
         });
}

std::optional<CountedLoop> CountedLoops::find(const llvm::Loop* loop) {
  CountedLoop found;
  llvm::BasicBlock *latch = loop->getLoopLatch(), *head = loop->getHeader();
  found.exiting = loop->getExitingBlock();
  if (!found.exiting || !latch || !loop->getExitBlock() || (found.exiting != head && found.exiting != latch))
    return std::nullopt;
  found.exitsAtLatch = found.exiting == latch;
  // The head runs once more than the rest.
  if (!found.exitsAtLatch && llvm::any_of(*head, [](const llvm::Instruction& instruction) {
        return instruction.mayReadOrWriteMemory() && !instruction.isDebugOrPseudoInst();
      }))
    return std::nullopt;
  found.taken = analyses_.evolution.getBackedgeTakenCount(loop);
  if (llvm::isa<llvm::SCEVCouldNotCompute>(found.taken) || !isKnownBefore(found.taken, loop))
    return std::nullopt;
  for (llvm::PHINode& phi : head->phis()) {
    if (!phi.getType()->isIntegerTy() || !analyses_.evolution.isSCEVable(phi.getType()) ||
        phi.getType()->getIntegerBitWidth() > 64)
      continue;
    const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(analyses_.evolution.getSCEV(&phi));
    if (!recurrence || !recurrence->isAffine() || recurrence->getLoop() != loop ||
        !isKnownBefore(recurrence->getStart(), loop))
      continue;
    const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(recurrence->getStepRecurrence(analyses_.evolution));
    const bool isWide = phi.getType()->isIntegerTy(64);
    if (!step || !step->getValue()->isOne() ||
        (!isWide && !recurrence->hasNoSignedWrap() && !recurrence->hasNoUnsignedWrap()))
      continue;
    found.variable = &phi;
    found.recurrence = recurrence;
    found.widening = isWide || recurrence->hasNoSignedWrap() ? Widening::Signed : Widening::Unsigned;
    break;
  }
  return found;
}

} // namespace strata::raise
