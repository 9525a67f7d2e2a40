// Choices: both ways from a branch to the block where all ways meet again become the arms of one scf.if, and the phis
// there its results. Where the arms share blocks these are written several times, up to a limit.
#include "compiler/raise/body.h"

namespace strata::raise {

namespace arith = mlir::arith;
namespace scf = mlir::scf;

using mlir::Value;

Value Body::incoming(llvm::PHINode& phi, BasicBlock* from) {
  if (!from)
    return values_.lookup(&phi);
  const int number = phi.getBasicBlockIndex(from);
  if (number >= 0)
    return valueOf(phi.getIncomingValue(static_cast<unsigned>(number)));
  refuse("control flow that is not followed", &phi);
  return zero(typeOf(&phi));
}

/// Takes an edge: phis get their values, all at once.
void Body::enter(BasicBlock* from, BasicBlock* to) {
  llvm::SmallVector<std::pair<llvm::PHINode*, Value>> next;
  for (llvm::PHINode& phi : to->phis())
    if (isCarried(phi))
      next.emplace_back(&phi, incoming(phi, from));
  for (auto [phi, value] : next)
    values_[phi] = value;
}

Body::Left Body::follow(BasicBlock* from, BasicBlock* to, Run& run) {
  if (run.isEnd(from, to))
    return run.leaving(from, to);
  enter(from, to);
  return this->run(to, run);
}

/// The block itself where it is within the run, else null.
Body::BasicBlock* Body::within(BasicBlock* meeting, const Run& run) {
  const bool isOutside = meeting && run.loop && (!run.loop->contains(meeting) || meeting == run.loop->getHeader());
  return isOutside ? nullptr : meeting;
}

/// The block at which all ways from a branch meet within the run, or null.
Body::BasicBlock* Body::meetingOf(BasicBlock* block, const Run& run) {
  const auto* node = analyses_.postDominators.getNode(block);
  const auto* next = node ? node->getIDom() : nullptr;
  return within(next ? next->getBlock() : nullptr, run);
}

/// The same of several blocks.
Body::BasicBlock* Body::meetingOf(llvm::ArrayRef<std::pair<Value, BasicBlock*>> exits, const Run& run) {
  BasicBlock* meeting = exits.front().second;
  for (const auto& [flag, exit] : exits.drop_front())
    meeting = meeting ? analyses_.postDominators.findNearestCommonDominator(meeting, exit) : nullptr;
  return within(meeting, run);
}

Body::Left Body::choose(BasicBlock* at, BasicBlock* meeting, Value condition, Arm then, Arm otherwise, Run& run) {
  const bool endsHere = !meeting || run.isEnd(at, meeting);
  // Where the ways do not meet within the run, the arms go to its ends.
  auto isMeeting = [&](BasicBlock*, BasicBlock* to) { return to == meeting; };
  auto phisOf = [&](BasicBlock* from, BasicBlock*) {
    Values values;
    for (llvm::PHINode& phi : meeting->phis())
      if (isCarried(phi))
        values.push_back(incoming(phi, from));
    return values;
  };
  Run inner{isMeeting, phisOf, {}, run.loop};
  if (!endsHere)
    for (llvm::PHINode& phi : meeting->phis())
      if (isCarried(phi))
        inner.types.push_back(typeOf(&phi));
  Run& used = endsHere ? run : inner;
  auto choice = make<scf::IfOp>(mlir::TypeRange(used.types), condition, true, true);
  for (bool isThen : {true, false}) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    mlir::Block* block = isThen ? choice.thenBlock() : choice.elseBlock();
    block->clear();
    builder_.setInsertionPointToEnd(block);
    if (++depth_ > mostDepth)
      refuse("loops and choices more than " + std::to_string(mostDepth) + " deep", at->getTerminator());
    Left left = refusal_ ? std::nullopt : isThen ? then(used) : otherwise(used);
    --depth_;
    if (!left)
      return std::nullopt;
    make<scf::YieldOp>(*left);
  }
  if (endsHere)
    return Values(choice.getResults());
  unsigned result = 0;
  for (llvm::PHINode& phi : meeting->phis())
    if (isCarried(phi))
      values_[&phi] = choice.getResult(result++);
  return this->run(meeting, run);
}

Body::Left Body::run(BasicBlock* block, Run& run) {
  for (;;) {
    if (written_ > mostWritten_)
      refuse("control flow that would have to be written too often", block->getTerminator());
    if (refusal_)
      return std::nullopt;
    llvm::Loop* loop = analyses_.loops.getLoopFor(block);
    if (loop && loop != run.loop && loop->getHeader() == block) {
      Exits exits;
      if (!writeLoop(loop, exits))
        return std::nullopt;
      return goOn(block, exits, run);
    }
    for (llvm::Instruction& instruction : *block)
      if (!llvm::isa<llvm::PHINode>(instruction) && !instruction.isTerminator() && !writeInstruction(instruction))
        return std::nullopt;
    llvm::Instruction* end = block->getTerminator();
    if (llvm::isa<llvm::ReturnInst>(end) && !run.loop)
      return Values();
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(end);
    if (!branch) {
      refuse(llvm::isa<llvm::UnreachableInst>(end) ? "a place that is never reached" : "an unusual end of a block",
             end);
      return std::nullopt;
    }
    BasicBlock* next = branch->getSuccessor(0);
    if (branch->isConditional()) {
      const CountedLoop* counted = run.loop ? loops_.of(run.loop) : nullptr;
      if (!counted || counted->exiting != block) {
        auto take = [&](unsigned successor) {
          return [this, block, branch, successor](Run& inner) {
            return follow(block, branch->getSuccessor(successor), inner);
          };
        };
        Value condition = valueOf(branch->getCondition());
        auto then = take(0), otherwise = take(1);
        return choose(block, meetingOf(block, run), condition, then, otherwise, run);
      }
      // The exit is the loop's own.
      next = branch->getSuccessor(run.loop->contains(branch->getSuccessor(0)) ? 0 : 1);
    }
    if (run.isEnd(block, next))
      return run.leaving(block, next);
    enter(block, next);
    block = next;
  }
}

/// Behind a loop: the phis of its exits have their values.
Body::Left Body::goOn(BasicBlock* head, llvm::ArrayRef<std::pair<Value, BasicBlock*>> exits, Run& run) {
  BasicBlock* first = exits.front().second;
  auto here = [this, head, first](Run& inner) -> Left {
    // ScalarEvolution takes what a phi here keeps of the loop for the loop's own value.
    const llvm::Loop* loop = analyses_.loops.getLoopFor(head);
    for (llvm::PHINode& phi : first->phis())
      if (auto* kept = llvm::dyn_cast_or_null<llvm::Instruction>(phi.hasConstantValue());
          kept && loop->contains(kept) && values_.contains(&phi))
        values_[kept] = values_.lookup(&phi);
    if (inner.isEnd(nullptr, first))
      return inner.leaving(nullptr, first);
    return this->run(first, inner);
  };
  if (exits.size() == 1)
    return here(run);
  auto elsewhere = [this, head, exits](Run& inner) { return goOn(head, exits.drop_front(), inner); };
  return choose(head, meetingOf(exits, run), exits.front().first, here, elsewhere, run);
}

} // namespace strata::raise
