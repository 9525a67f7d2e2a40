// Loops. A for loop that counts, by a constant, towards a bound that does not change becomes an scf.for over an index,
// so that what it subscripts can be analysed and its iterations made vectors; every other loop becomes an scf.while.
#include "compiler/hbir/lower/lower_body.h"

#include <algorithm>

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::hbir {

using mlir::Value;

/// for (symbol = start; symbol < bound; symbol += step).
struct BodyLowering::Counted {
  const Symbol* symbol = nullptr;
  const Expression* start = nullptr; // null: 0
  const Expression* bound = nullptr;
  bool outlives = false; // the variable keeps its last value behind the loop
  cfamily::Counting counting;
  cfamily::CountingPlan plan;
};

namespace {

bool isVariable(const Expression& expression, const Symbol* symbol) {
  return expression.kind == ExpressionKind::Variable && expression.symbol == symbol;
}

} // namespace

/// The number by which a statement steps a variable; 0 when it does something else.
int64_t BodyLowering::stepOf(const Statement* next, const Symbol* symbol) {
  if (!next || next->kind != StatementKind::Assign || !isVariable(*next->target, symbol))
    return 0;
  auto small = [&](const Expression& expression) -> int64_t {
    Range range = rangeOf(expression);
    return range.least == range.most && range.within(1, INT32_MAX) && isPlain(expression) ? range.least : 0;
  };
  auto by = [&](Operator op, const Expression& amount) {
    return op == Operator::Add ? small(amount) : op == Operator::Subtract ? -small(amount) : 0;
  };
  const Expression& value = *next->value;
  if (next->compound)
    return by(*next->compound, value);
  if (value.kind != ExpressionKind::Binary)
    return 0;
  if (isVariable(*value.operands[0], symbol))
    return by(value.op, *value.operands[1]);
  return value.op == Operator::Add && isVariable(*value.operands[1], symbol) ? small(*value.operands[0]) : 0;
}

/// Data that other tiles write at the same time without being waited for has one value or the other; taking the first
/// one is as good.
bool BodyLowering::isInvariant(const Expression& expression, const Statement& loop) {
  if (expression.kind == ExpressionKind::Call)
    return false;
  if (expression.symbol && (assigns(&loop, expression.symbol)))
    return false;
  for (const ExpressionPtr& operand : expression.operands)
    if (!isInvariant(*operand, loop))
      return false;
  return true;
}

std::optional<BodyLowering::Counted> BodyLowering::counted(const Statement& each) {
  if (each.kind != StatementKind::For || each.waits || !each.first || !each.condition)
    return std::nullopt;
  for (const StatementPtr& inner : each.body)
    if (facts_.jumps(inner.get()) != NoJump)
      return std::nullopt;
  Counted result;
  if (each.first->kind == StatementKind::Declare) {
    result.symbol = each.first->symbol;
  } else if (each.first->kind == StatementKind::Assign && !each.first->compound &&
             each.first->target->kind == ExpressionKind::Variable) {
    result.symbol = each.first->target->symbol;
    result.outlives = true;
  }
  result.start = each.first->value.get();
  const Symbol* symbol = result.symbol;
  if (!symbol || symbol->kind != SymbolKind::Local || symbol->type != ScalarType::Int || !symbol->extents.empty())
    return std::nullopt;
  for (const StatementPtr& inner : each.body)
    if (assigns(inner.get(), symbol))
      return std::nullopt;
  cfamily::Counting& counting = result.counting;
  counting.step = stepOf(each.next.get(), symbol);
  const Expression& test = *each.condition;
  if (counting.step == 0 || test.kind != ExpressionKind::Binary || test.operands[0]->type != ScalarType::Int)
    return std::nullopt;
  const bool isLeft = isVariable(*test.operands[0], symbol);
  if (!isLeft && !isVariable(*test.operands[1], symbol))
    return std::nullopt;
  const std::optional<bool> inclusive = cfamily::includesBound(isLeft ? test.op : mirrored(test.op), counting.step);
  if (!inclusive)
    return std::nullopt;
  counting.inclusive = *inclusive;
  result.bound = test.operands[isLeft ? 1 : 0].get();
  // The bound mentions the variable only where the loop assigns it, so that this covers it too.
  if (!isInvariant(*result.bound, each))
    return std::nullopt;
  // The variable is an int: it is stored, and begins with the low 32 bits of what it is given.
  counting.start = result.start ? rangeOf(*result.start) : Range::only(0);
  if (!counting.start.fits(counting.type))
    counting.start = Range::of(counting.type);
  counting.bound = rangeOf(*result.bound);
  result.plan = planCounting(counting);
  return result.plan.isCounted ? std::optional(result) : std::nullopt;
}

void BodyLowering::loop(const Statement& each) {
  Value outerBreak = breakFlag_;
  unsigned jumps = NoJump;
  for (const StatementPtr& inner : each.body)
    jumps |= facts_.jumps(inner.get());
  if (each.kind == StatementKind::Range) {
    breakFlag_ = jumps & BreakJump ? flag() : Value();
    rangeLoop(each);
  } else if (auto simple = counted(each)) {
    breakFlag_ = {};
    countedLoop(each, *simple);
  } else {
    breakFlag_ = jumps & BreakJump ? allocate(builder_.getI1Type()) : Value();
    generalLoop(each);
  }
  breakFlag_ = outerBreak;
}

void BodyLowering::bindLoopVariable(const Statement& each, const Symbol* symbol, Value index, Range range) {
  bool written = false;
  for (const StatementPtr& inner : each.body)
    written |= assigns(inner.get(), symbol);
  if (written) {
    bindings_.erase(symbol);
    write({bindingOf(symbol).storage, {}}, symbol, ScalarType::Int, index);
    return;
  }
  Binding binding;
  binding.value = narrowed(index, range);
  binding.range = range.fits(Scalar::Int) ? range : Range::of(Scalar::Int);
  bindings_[symbol] = binding;
}

void BodyLowering::countedLoop(const Statement& each, const Counted& loop) {
  Value start = loop.start ? value(*loop.start) : indexConstant(0);
  at(each.where);
  start = narrowed(start, loop.start ? rangeOf(*loop.start) : Range::only(0));
  Value bound = value(*loop.bound);
  at(each.where);
  CountedLoop made = beginCounting(loop.counting, loop.plan, start, bound, loop.symbol->name,
                                   loop.counting.step > 0 ? "it is an int, which ends at 2147483647"
                                                          : "it is an int, which ends at -2147483648");
  auto outer = bindings_.find(loop.symbol);
  std::optional<Binding> saved = outer == bindings_.end() ? std::nullopt : std::optional(outer->second);
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPoint(made.loop.getBody()->getTerminator());
    Binding binding;
    binding.value = made.variable;
    binding.range = valuesIn(loop.counting, loop.plan);
    bindings_[loop.symbol] = binding;
    const size_t hidden = hidden_.size();
    if (!waiting_.empty())
      hidden_.append({made.variable, made.lower, made.upper, made.start});
    sequence(each.body);
    hidden_.resize(hidden);
  }
  if (saved)
    bindings_[loop.symbol] = *saved;
  else
    bindings_.erase(loop.symbol);
  if (!loop.outlives)
    return;
  at(each.where);
  write({bindingOf(loop.symbol).storage, {}}, loop.symbol, ScalarType::Int, valueBehind(made));
}

void BodyLowering::generalLoop(const Statement& each) {
  const size_t scope = scope_.size();
  if (each.first)
    statement(*each.first);
  at(each.where);
  if (each.waits)
    beginWaiting(each);
  unsigned leaving = NoJump;
  for (const StatementPtr& inner : each.body)
    leaving |= facts_.jumps(inner.get());
  if (breakFlag_)
    store(truth(false), breakFlag_);
  auto test = [&]() -> Value {
    if (!each.condition)
      return noJump(leaving);
    if (leaving == NoJump)
      return value(*each.condition);
    return eitherOf(
        noJump(leaving), builder_.getI1Type(), [&] { return value(*each.condition); }, [&] { return truth(false); });
  };
  auto made = make<scf::WhileOp>(mlir::TypeRange(), mlir::ValueRange());
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.createBlock(&made.getBefore());
    Value again = test();
    at(each.where);
    make<scf::ConditionOp>(again, mlir::ValueRange());
    builder_.createBlock(&made.getAfter());
    sequence(each.body);
    at(each.where);
    if (each.next || each.waits) {
      mlir::OpBuilder::InsertionGuard inside(builder_);
      if (leaving != NoJump) {
        auto branch = make<scf::IfOp>(noJump(leaving), /*withElseRegion=*/false);
        builder_.setInsertionPointToStart(branch.thenBlock());
      }
      if (each.next)
        statement(*each.next);
      at(each.where);
      if (each.waits)
        endRound();
    }
    at(each.where);
    make<scf::YieldOp>();
  }
  if (each.waits)
    waiting_.pop_back();
  scope_.resize(scope);
}

void BodyLowering::rangeLoop(const Statement& each) {
  Range first = rangeOf(*each.value), last = rangeOf(*each.upper);
  Value lower = value(*each.value), upper = value(*each.upper);
  at(each.where);
  unsigned leaving = NoJump;
  for (const StatementPtr& inner : each.body)
    leaving |= facts_.jumps(inner.get());
  Range within{first.least, std::max(first.least, last.most == INT64_MIN ? INT64_MIN : last.most - 1)};
  auto outer = bindings_.find(each.symbol);
  std::optional<Binding> saved = outer == bindings_.end() ? std::nullopt : std::optional(outer->second);
  const size_t hidden = hidden_.size(), scope = scope_.size();
  scope_.push_back(each.symbol);
  if (leaving == NoJump) {
    auto made = make<scf::ForOp>(lower, upper, indexConstant(1));
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(made.getBody());
    if (!waiting_.empty())
      hidden_.append({made.getInductionVar(), lower, upper});
    bindLoopVariable(each, each.symbol, made.getInductionVar(), within);
    sequence(each.body);
  } else {
    if (breakFlag_)
      store(truth(false), breakFlag_);
    auto made = make<scf::WhileOp>(mlir::TypeRange(builder_.getIndexType()), mlir::ValueRange(lower));
    mlir::OpBuilder::InsertionGuard guard(builder_);
    mlir::Block* before = builder_.createBlock(&made.getBefore(), {}, builder_.getIndexType(), place_);
    Value more = compare(arith::CmpIPredicate::slt, before->getArgument(0), upper);
    Value again = folded<arith::AndIOp>(more, noJump(leaving));
    make<scf::ConditionOp>(again, before->getArgument(0));
    mlir::Block* after = builder_.createBlock(&made.getAfter(), {}, builder_.getIndexType(), place_);
    if (!waiting_.empty())
      hidden_.append({after->getArgument(0), upper});
    bindLoopVariable(each, each.symbol, after->getArgument(0), within);
    sequence(each.body);
    at(each.where);
    Value next = folded<arith::AddIOp>(after->getArgument(0), indexConstant(1));
    make<scf::YieldOp>(next);
  }
  hidden_.resize(hidden);
  scope_.resize(scope);
  if (saved)
    bindings_[each.symbol] = *saved;
  else
    bindings_.erase(each.symbol);
}

} // namespace strata::hbir
