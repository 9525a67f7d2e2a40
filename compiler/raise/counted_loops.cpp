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
         !llvm::SCEVExprContains(expression, [loop](const llvm::SCEV* part) {
           const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
           const auto* grows = llvm::dyn_cast<llvm::SCEVAddRecExpr>(part);
           return (unknown && unknown->getType()->isPointerTy()) ||
                  (grows && !grows->getLoop()->contains(loop)) || // what a loop that has ended came to
                  llvm::isa<llvm::SCEVCouldNotCompute, llvm::SCEVPtrToIntExpr, llvm::SCEVVScale,
                            llvm::SCEVSequentialUMinExpr>(part);
         });
}

/// How often a loop goes around whose head asks whether a pointer that walks is in front of another one into the same
/// array: ScalarEvolution's answer holds the array's address, since it takes it that addresses might wrap. Null: it
/// asks something else.
const llvm::SCEV* CountedLoops::distanceToEnd(const llvm::Loop* loop) {
  llvm::ScalarEvolution& evolution = analyses_.evolution;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(loop->getHeader()->getTerminator());
  const auto* compared =
      branch && branch->isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
  if (!compared || !compared->getOperand(0)->getType()->isPointerTy())
    return nullptr;
  const llvm::SCEV *walks = evolution.getSCEV(compared->getOperand(0)),
                   *end = evolution.getSCEV(compared->getOperand(1));
  llvm::CmpInst::Predicate predicate =
      loop->contains(branch->getSuccessor(0)) ? compared->getPredicate() : compared->getInversePredicate();
  if (!llvm::isa<llvm::SCEVAddRecExpr>(walks)) {
    std::swap(walks, end);
    predicate = llvm::CmpInst::getSwappedPredicate(predicate);
  }
  const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(walks);
  if (!recurrence || recurrence->getLoop() != loop || !recurrence->isAffine() ||
      !evolution.isLoopInvariant(end, loop) || evolution.getPointerBase(walks) != evolution.getPointerBase(end))
    return nullptr;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(recurrence->getStepRecurrence(evolution));
  const bool goesUp = predicate == llvm::CmpInst::ICMP_ULT || predicate == llvm::CmpInst::ICMP_ULE;
  const bool goesDown = predicate == llvm::CmpInst::ICMP_UGT || predicate == llvm::CmpInst::ICMP_UGE;
  if (!step || step->isZero() || step->getAPInt().isNegative() != goesDown || goesUp == goesDown)
    return nullptr;
  const llvm::SCEV *first = evolution.removePointerBase(recurrence->getStart()),
                   *last = evolution.removePointerBase(end);
  const llvm::SCEV* distance = goesUp ? evolution.getMinusSCEV(last, first) : evolution.getMinusSCEV(first, last);
  const bool takesEnd = predicate == llvm::CmpInst::ICMP_ULE || predicate == llvm::CmpInst::ICMP_UGE;
  const llvm::SCEV* size = evolution.getConstant(step->getAPInt().abs());
  // Distances in an array are small: that of the end, and what is added to round it up, do not wrap.
  const llvm::SCEV* rounded = takesEnd ? size : evolution.getMinusSCEV(size, evolution.getOne(size->getType()));
  return evolution.getUDivExpr(
      evolution.getSMaxExpr(evolution.getAddExpr(distance, rounded), evolution.getZero(size->getType())), size);
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
    found.taken = found.exitsAtLatch ? nullptr : distanceToEnd(loop);
  if (!found.taken || !isKnownBefore(found.taken, loop))
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
