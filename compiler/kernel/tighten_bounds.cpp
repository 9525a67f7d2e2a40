// Guards of loops' bodies that go in front of the loops or become bounds of them. What is compared is the loop's
// variable with a constant added, in 64 bits. Limits may be any numbers; variables that constants are added to are
// taken not to come within 2^32 of the ends of what 64 bits hold.
#include "compiler/kernel/nests.h"
#include "compiler/kernel/tiles.h"

#include "compiler/ir/speculation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace strata::kernel {

namespace {

/// Operations that are made anew of a loop, for both sides of choices: each choice doubles what is in the loop.
constexpr size_t mostUnswitched = 300;

/// `variable + constant < limit`, or `variable + constant >= limit`.
struct Comparison {
  int64_t constant = 0;
  Value limit;
  bool isUpper = false;    // the variable is below the limit
  bool isUnsigned = false; // and both are compared as integers without a sign
};

class BoundTightener {
public:
  explicit BoundTightener(scf::ForOp loop) : loop_(loop) {}

  void run() {
    scf::IfOp guard = findGuard();
    if (!guard || !takeApart(guard.getCondition()))
      return;
    // All operands are there in front of the loop.
    OpBuilder builder(loop_);
    const Location place = guard.getLoc();
    Value lower = loop_.getLowerBound(), upper = loop_.getUpperBound();
    for (const Comparison& comparison : comparisons_) {
      Value limit = comparison.limit;
      if (!limit.getType().isIndex())
        limit = builder.create<arith::IndexCastOp>(place, builder.getIndexType(), limit);
      const auto constant = [&](int64_t value) -> Value {
        return builder.create<arith::ConstantIndexOp>(place, value);
      };
      if (comparison.isUnsigned) { // a limit that is negative with a sign is above all
        Value isAbove = builder.create<arith::CmpIOp>(place, arith::CmpIPredicate::slt, limit, constant(0));
        limit = builder.create<arith::SelectOp>(place, isAbove, constant(INT64_MAX), limit);
        lower = builder.create<arith::MaxSIOp>(place, lower, constant(-comparison.constant));
      }
      // Where the constant cannot be taken off, all that a variable can be is on one side.
      if (comparison.constant < 0)
        limit = builder.create<arith::MinSIOp>(place, limit, constant(INT64_MAX + comparison.constant));
      if (comparison.constant > 0)
        limit = builder.create<arith::MaxSIOp>(place, limit, constant(INT64_MIN + comparison.constant));
      Value bound = builder.create<arith::SubIOp>(place, limit, constant(comparison.constant));
      if (comparison.isUpper)
        upper = builder.create<arith::MinSIOp>(place, upper, bound);
      else
        lower = builder.create<arith::MaxSIOp>(place, lower, bound);
    }
    loop_.setLowerBound(lower);
    loop_.setUpperBound(upper);
    Block* body = guard.thenBlock();
    guard->getBlock()->getOperations().splice(guard->getIterator(), body->getOperations(), body->begin(),
                                              std::prev(body->end()));
    guard.erase();
    if (outside_.empty())
      return;
    Value all = outside_.front();
    for (Value each : llvm::drop_begin(outside_))
      all = builder.create<arith::AndIOp>(place, all, each);
    auto around = builder.create<scf::IfOp>(place, all, false);
    loop_->moveBefore(around.thenBlock(), around.thenBlock()->begin());
  }

private:
  /// The choice that all effects of the loop's body are in.
  scf::IfOp findGuard() {
    scf::IfOp guard;
    if (loop_.getNumResults())
      return {};
    for (Operation& op : loop_.getBody()->without_terminator()) {
      auto choice = dyn_cast<scf::IfOp>(op);
      if (choice && !guard)
        guard = choice;
      else if (guard || !svm::canExecuteAnywhere(&op))
        return {};
    }
    if (!guard || guard.getNumResults())
      return {};
    const bool hasElse = !guard.getElseRegion().empty() && !llvm::hasSingleElement(guard.getElseRegion().front());
    return hasElse ? scf::IfOp() : guard;
  }

  bool isOutside(Value value) { return loop_.isDefinedOutsideOfLoop(value); }

  /// The parts of a conjunction; false where one is not understood.
  bool takeApart(Value condition) {
    if (auto both = condition.getDefiningOp<arith::AndIOp>())
      return takeApart(both.getLhs()) && takeApart(both.getRhs());
    if (auto choice = condition.getDefiningOp<arith::SelectOp>();
        choice && matchPattern(choice.getFalseValue(), m_Zero()))
      return takeApart(choice.getCondition()) && takeApart(choice.getTrueValue());
    if (isOutside(condition)) {
      outside_.push_back(condition);
      return true;
    }
    auto compared = condition.getDefiningOp<arith::CmpIOp>();
    return compared && (take(compared.getLhs(), compared.getPredicate(), compared.getRhs()) ||
                        take(compared.getRhs(), mirrored(compared.getPredicate()), compared.getLhs()));
  }

  /// a < b as b > a.
  static arith::CmpIPredicate mirrored(arith::CmpIPredicate predicate) {
    using Is = arith::CmpIPredicate;
    switch (predicate) {
    case Is::slt:
      return Is::sgt;
    case Is::sle:
      return Is::sge;
    case Is::sgt:
      return Is::slt;
    case Is::sge:
      return Is::sle;
    case Is::ult:
      return Is::ugt;
    case Is::ule:
      return Is::uge;
    case Is::ugt:
      return Is::ult;
    case Is::uge:
      return Is::ule;
    default:
      return predicate;
    }
  }

  /// `value predicate limit`.
  bool take(Value value, arith::CmpIPredicate predicate, Value limit) {
    using Is = arith::CmpIPredicate;
    Comparison comparison{0, limit, false, false};
    if (!isOutside(limit) || !isVariable(value, comparison.constant))
      return false;
    switch (predicate) {
    case Is::ult:
      // Of a limit beyond half of the range, and a variable that may be negative, the numbers below are no interval.
      if (!isNatural(limit) && !beginsNatural(comparison.constant))
        return false;
      comparison.isUnsigned = true;
      comparison.isUpper = true;
      break;
    case Is::slt:
      comparison.isUpper = true;
      break;
    case Is::sle:
      comparison.isUpper = true;
      comparison.constant -= 1;
      break;
    case Is::sge:
      break;
    case Is::sgt:
      comparison.constant -= 1;
      break;
    default:
      return false;
    }
    comparisons_.push_back(comparison);
    return true;
  }

  /// The loop's variable with a constant added, in 64 bits.
  bool isVariable(Value value, int64_t& constant) {
    while (value != loop_.getInductionVar()) {
      Operation* op = value.getDefiningOp();
      APInt added;
      if (!op || !(value.getType().isIndex() || value.getType().isInteger(64)))
        return false;
      if (isa<arith::IndexCastOp>(op) &&
          (op->getOperand(0).getType().isIndex() || op->getOperand(0).getType().isInteger(64))) {
        value = op->getOperand(0);
      } else if (isa<arith::AddIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&added))) {
        constant += added.getSExtValue();
        value = op->getOperand(0);
      } else {
        return false;
      }
    }
    return constant > -(int64_t(1) << 32) && constant < (int64_t(1) << 32);
  }

  /// Whether a value is seen not to be negative.
  static bool isNatural(Value value) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return !constant.isNegative();
    if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
      return isNatural(cast.getIn());
    if (auto cast = value.getDefiningOp<arith::IndexCastUIOp>())
      return (!cast.getIn().getType().isIndex() && !cast.getIn().getType().isInteger(64)) || isNatural(cast.getIn());
    return bool(value.getDefiningOp<arith::ExtUIOp>());
  }

  /// Whether the loop's variable with a constant added is seen not to be negative.
  bool beginsNatural(int64_t constant) {
    APInt lower;
    return matchPattern(loop_.getLowerBound(), m_ConstantInt(&lower)) && lower.sge(-constant);
  }

  scf::ForOp loop_;
  std::vector<Comparison> comparisons_;
  SmallVector<Value> outside_;
};

} // namespace

/// `room`: operations that may still be made anew.
static void unswitch(scf::ForOp loop, size_t& room) {
  scf::IfOp choice;
  size_t operations = 0;
  loop.getBody()->walk([&](Operation*) { ++operations; });
  for (scf::IfOp each : loop.getBody()->getOps<scf::IfOp>())
    if (!choice && loop.isDefinedOutsideOfLoop(each.getCondition()))
      choice = each;
  if (!choice || loop.getNumResults() || operations > room)
    return;
  room -= operations;
  OpBuilder builder(loop);
  const bool isAll = llvm::all_of(loop.getBody()->without_terminator(),
                                  [&](Operation& op) { return &op == choice || svm::canExecuteAnywhere(&op); });
  const bool hasElse = !choice.getElseRegion().empty() && !llvm::hasSingleElement(choice.getElseRegion().front());
  auto around = builder.create<scf::IfOp>(choice.getLoc(), choice.getCondition(), !isAll || hasElse);
  for (bool isThen : {true, false}) {
    if (!isThen && isAll && !hasElse)
      continue; // nothing is left
    builder.setInsertionPointToStart(isThen ? around.thenBlock() : around.elseBlock());
    IRMapping copies;
    auto copy = cast<scf::ForOp>(builder.clone(*loop, copies));
    auto taken = cast<scf::IfOp>(copies.lookup(choice.getOperation()));
    if (Block* body = isThen ? taken.thenBlock() : taken.elseBlock()) {
      const SmallVector<Value> given(body->getTerminator()->getOperands());
      copy.getBody()->getOperations().splice(taken->getIterator(), body->getOperations(), body->begin(),
                                             std::prev(body->end()));
      taken.replaceAllUsesWith(given);
    }
    taken.erase();
    unswitch(copy, room); // the next one
  }
  loop.erase();
}

void unswitch(scf::ForOp loop) {
  size_t room = mostUnswitched;
  unswitch(loop, room);
}

void tightenBounds(scf::ForOp loop) {
  BoundTightener(loop).run();
}

} // namespace strata::kernel
