// Loops. One that is counted becomes an scf.for, whose variable stands for all that grows evenly; any other an
// scf.while of the form do { body } while (flag), whose results are what leaves it through each of its exits.
#include "compiler/raise/body.h"

namespace strata::raise {

namespace arith = mlir::arith;
namespace scf = mlir::scf;

using mlir::Value;

bool Body::writeLoop(llvm::Loop* loop, Exits& exits) {
  if (!loop->getLoopLatch())
    return refuse("a loop that is entered at several places", loop->getHeader()->getTerminator());
  if (loop->hasNoExitBlocks())
    return refuse("a loop without an end", loop->getHeader()->getTerminator());
  if (++depth_ > mostDepth)
    return refuse("loops and choices more than " + std::to_string(mostDepth) + " deep",
                  loop->getHeader()->getTerminator());
  const CountedLoop* counted = loops_.of(loop);
  const bool isDone = counted ? writeFor(loop, *counted, exits) : writeWhile(loop, exits);
  --depth_;
  return isDone;
}

// ---- for ----

/// Whether the loop's variable stands for a phi of its head.
bool Body::isDerived(llvm::PHINode& phi, const llvm::Loop* loop, const CountedLoop& counted) {
  if (&phi == counted.variable)
    return true;
  if (phi.getType()->isPointerTy())
    return indices_.walksEvenly(&phi);
  return analyses_.loops.getLoopFor(phi.getParent()) == loop && indices_.recurrence(&phi, Widening::Signed).has_value();
}

/// An upper bound need not be as great as the lower one.
static const llvm::SCEV* withoutMaximum(const llvm::SCEV* bound, const llvm::SCEV* start) {
  const auto* maximum = llvm::dyn_cast<llvm::SCEVMinMaxExpr>(bound);
  if (!maximum || maximum->getNumOperands() != 2 || !llvm::isa<llvm::SCEVSMaxExpr, llvm::SCEVUMaxExpr>(bound))
    return bound;
  return maximum->getOperand(0) == start   ? maximum->getOperand(1)
         : maximum->getOperand(1) == start ? maximum->getOperand(0)
                                           : bound;
}

bool Body::boundsOf(const CountedLoop& counted, Value& lower, Value& upper) {
  llvm::ScalarEvolution& evolution = analyses_.evolution;
  if (counted.variable) {
    const llvm::SCEV* start = counted.recurrence->getStart();
    const llvm::SCEV* end =
        evolution.getAddExpr(start, evolution.getTruncateOrZeroExtend(counted.taken, start->getType()));
    lower = valueOf(indices_.of(start, counted.widening));
    if (counted.exitsAtLatch) // which has been reached once more than it goes back
      upper = make<arith::AddIOp>(valueOf(indices_.of(end, counted.widening)), index(1));
    else
      upper = valueOf(indices_.of(withoutMaximum(end, start), counted.widening));
    return !refusal_;
  }
  lower = index(0);
  const llvm::SCEV* taken = counted.taken;
  const llvm::SCEV* bound = withoutMaximum(taken, evolution.getZero(taken->getType()));
  upper = valueOf(indices_.of(bound, bound == taken ? Widening::Unsigned : Widening::Signed));
  if (counted.exitsAtLatch)
    upper = make<arith::AddIOp>(bound == taken ? upper : make<arith::MaxSIOp>(upper, index(0)).getResult(), index(1));
  return !refusal_;
}

bool Body::writeFor(llvm::Loop* loop, const CountedLoop& counted, Exits& exits) {
  BasicBlock *head = loop->getHeader(), *latch = loop->getLoopLatch(), *exit = loop->getExitBlock();
  Value lower, upper;
  if (!boundsOf(counted, lower, upper))
    return false;
  llvm::SmallVector<llvm::PHINode*> carried;
  Values initial;
  for (llvm::PHINode& phi : head->phis()) {
    if (isDerived(phi, loop, counted))
      continue;
    if (!isCarried(phi))
      return refuse("a pointer that walks unevenly", &phi);
    carried.push_back(&phi);
    initial.push_back(values_.lookup(&phi));
    if (!initial.back())
      return refuse("control flow that is not followed", &phi);
  }
  // What else is used behind a loop that ends at its latch.
  llvm::SmallVector<llvm::Value*> kept;
  for (llvm::PHINode& phi : exit->phis()) {
    if (isFollowed(phi) && typeOf(&phi))
      continue; // follows from what is known in front of the loop
    if (!isCarried(phi))
      return refuse("a pointer that leaves a loop", &phi);
    auto* value = llvm::dyn_cast<llvm::Instruction>(phi.getIncomingValue(0));
    const bool isNext = llvm::any_of(
        carried, [&](llvm::PHINode* each) { return each->getIncomingValueForBlock(latch) == phi.getIncomingValue(0); });
    if (counted.exitsAtLatch && value && loop->contains(value) && !isNext && !llvm::is_contained(kept, value)) {
      kept.push_back(value);
      initial.push_back(zero(typeOf(value)));
    }
  }
  auto made = make<scf::ForOp>(lower, upper, index(1), initial);
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    made.getBody()->clear();
    builder_.setInsertionPointToStart(made.getBody());
    variables_[loop] = made.getInductionVar();
    for (llvm::PHINode& phi : head->phis())
      values_.erase(&phi);
    for (auto [number, phi] : llvm::enumerate(carried))
      values_[phi] = made.getRegionIterArg(static_cast<unsigned>(number));
    auto isEnd = [&](BasicBlock*, BasicBlock* to) { return to == head || !loop->contains(to); };
    auto leaving = [&](BasicBlock*, BasicBlock*) {
      Values values;
      for (llvm::PHINode* phi : carried)
        values.push_back(valueOf(phi->getIncomingValueForBlock(latch)));
      for (llvm::Value* value : kept)
        values.push_back(valueOf(value));
      return values;
    };
    Run body{isEnd, leaving, llvm::to_vector(mlir::ValueRange(initial).getTypes()), loop};
    Left left = run(head, body);
    if (!left)
      return false;
    make<scf::YieldOp>(*left);
    variables_.erase(loop);
  }
  exits.emplace_back(Value(), exit);
  return leaveFor(loop, counted, made, carried, kept);
}

/// The values that are used behind a for loop.
bool Body::leaveFor(llvm::Loop* loop, const CountedLoop& counted, scf::ForOp made,
                    llvm::ArrayRef<llvm::PHINode*> carried, llvm::ArrayRef<llvm::Value*> kept) {
  BasicBlock *head = loop->getHeader(), *latch = loop->getLoopLatch(), *exit = loop->getExitBlock();
  if (exit->phis().empty())
    return !refusal_;
  if (counted.exitsAtLatch) {
    for (llvm::PHINode& phi : exit->phis()) {
      if (isFollowed(phi))
        continue;
      llvm::Value* value = phi.getIncomingValue(0);
      Value result;
      for (auto [number, each] : llvm::enumerate(carried))
        if (each->getIncomingValueForBlock(latch) == value)
          result = made.getResult(static_cast<unsigned>(number));
      for (auto [number, each] : llvm::enumerate(kept))
        if (each == value)
          result = made.getResult(static_cast<unsigned>(carried.size() + number));
      values_[&phi] = result ? result : valueOf(value);
    }
    return !refusal_;
  }
  // The head runs once more than the rest: with what the variables are then.
  for (auto [number, phi] : llvm::enumerate(carried))
    values_[phi] = made.getResult(static_cast<unsigned>(number));
  Value lower = made.getLowerBound(), upper = made.getUpperBound();
  variables_[loop] = make<arith::MaxSIOp>(lower, upper);
  for (llvm::Instruction& instruction : *head)
    if (!llvm::isa<llvm::PHINode>(instruction) && !instruction.isTerminator() && !writeInstruction(instruction))
      return false;
  Values values;
  for (llvm::PHINode& phi : exit->phis())
    values.push_back(isFollowed(phi) ? Value() : valueOf(phi.getIncomingValue(0)));
  for (auto [phi, value] : llvm::zip(exit->phis(), values))
    if (value)
      values_[&phi] = value;
  variables_.erase(loop);
  return !refusal_;
}

// ---- while ----

bool Body::writeWhile(llvm::Loop* loop, Exits& exits) {
  BasicBlock *head = loop->getHeader(), *latch = loop->getLoopLatch();
  llvm::SmallVector<llvm::PHINode*> carried, outside;
  Values initial;
  bool walks = false; // a pointer by even steps: then iterations are counted
  for (llvm::PHINode& phi : head->phis()) {
    if (phi.getType()->isPointerTy() && indices_.walksEvenly(&phi)) {
      walks = true;
      continue;
    }
    if (!isCarried(phi))
      return refuse("a pointer that walks unevenly", &phi);
    carried.push_back(&phi);
    initial.push_back(values_.lookup(&phi));
    if (!initial.back())
      return refuse("control flow that is not followed", &phi);
  }
  if (walks)
    initial.push_back(index(0));
  llvm::SmallVector<BasicBlock*> ends;
  loop->getUniqueExitBlocks(ends);
  llvm::SmallVector<mlir::Type> carriedTypes(mlir::ValueRange(initial).getTypes()), types = carriedTypes;
  if (ends.size() > 1)
    types.push_back(builder_.getI32Type());
  for (BasicBlock* end : ends)
    for (llvm::PHINode& phi : end->phis()) {
      if (isFollowed(phi) && typeOf(&phi))
        continue; // follows from what is known in front of the loop
      if (!isCarried(phi))
        return refuse("a pointer that leaves a loop", &phi);
      outside.push_back(&phi);
      types.push_back(typeOf(&phi));
    }
  auto made = make<scf::WhileOp>(types, initial);
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    llvm::SmallVector<mlir::Location> places(carriedTypes.size(), place_);
    mlir::Block* body = builder_.createBlock(&made.getBefore(), {}, carriedTypes, places);
    for (auto [number, phi] : llvm::enumerate(carried))
      values_[phi] = body->getArgument(static_cast<unsigned>(number));
    if (walks)
      variables_[loop] = body->getArguments().back();
    auto isEnd = [&](BasicBlock*, BasicBlock* to) { return to == head || !loop->contains(to); };
    auto leaving = [&](BasicBlock* from, BasicBlock* to) {
      const bool isBack = to == head;
      Values values{make<arith::ConstantIntOp>(isBack, 1)};
      for (llvm::PHINode* phi : carried)
        values.push_back(isBack ? valueOf(phi->getIncomingValueForBlock(latch)) : zero(typeOf(phi)));
      if (walks)
        values.push_back(isBack ? make<arith::AddIOp>(variables_.lookup(loop), index(1)).getResult() : index(0));
      if (ends.size() > 1)
        values.push_back(make<arith::ConstantIntOp>(isBack ? 0 : llvm::find(ends, to) - ends.begin(), 32));
      for (llvm::PHINode* phi : outside)
        values.push_back(phi->getParent() == to ? incoming(*phi, from) : zero(typeOf(phi)));
      return values;
    };
    Run run{isEnd, leaving, {builder_.getI1Type()}, loop};
    run.types.append(types);
    Left left = this->run(head, run);
    if (!left)
      return false;
    builder_.setInsertionPointToEnd(body);
    make<scf::ConditionOp>(left->front(), mlir::ValueRange(*left).drop_front());
    places.resize(types.size(), place_);
    mlir::Block* after = builder_.createBlock(&made.getAfter(), {}, types, places);
    make<scf::YieldOp>(after->getArguments().take_front(carriedTypes.size()));
    variables_.erase(loop);
  }
  auto result = static_cast<unsigned>(carriedTypes.size());
  Value which = ends.size() > 1 ? made.getResult(result++) : Value();
  for (llvm::PHINode* phi : outside)
    values_[phi] = made.getResult(result++);
  for (auto [number, end] : llvm::enumerate(ends)) {
    const bool isTold = number + 1 < ends.size();
    Value flag;
    if (isTold)
      flag = make<arith::CmpIOp>(arith::CmpIPredicate::eq, which,
                                 make<arith::ConstantIntOp>(static_cast<int64_t>(number), 32));
    exits.emplace_back(flag, end);
  }
  return !refusal_;
}

} // namespace strata::raise
