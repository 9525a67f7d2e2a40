// C's loops. A for loop that counts, by a constant, towards a bound that does not change becomes an scf.for over an
// index, so that what it subscripts can be analysed; every other loop becomes an scf.while over flags.
#include "compiler/sequoia/check/fold.h"
#include "compiler/sequoia/check/stepping.h"
#include "compiler/sequoia/check/writes.h"
#include "compiler/sequoia/lower/lower_body.h"

namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace strata::sequoia {

using mlir::Value;

/// for (variable = start; variable < bound; variable += step), in the forms of C that mean this.
struct BodyLowering::CountedStatement {
  const Variable* variable = nullptr;
  const Expr* start = nullptr;
  const Expr* bound = nullptr;
  bool outlives = false; // the variable keeps its last value behind the loop
  cfamily::Counting counting;
  cfamily::CountingPlan plan;
};

namespace {

/// The constant by which an expression steps a variable; 0 when it does something else.
int64_t stepOf(const Expr* expr, const Variable* variable) {
  const std::optional<Stepping> step = stepOf(expr);
  if (!step || step->variable != variable)
    return 0;
  const std::optional<int64_t> size = step->step ? constantOf(step->step) : 1;
  if (!size || *size < 1 || *size > INT32_MAX)
    return 0;
  return step->isDown ? -*size : *size;
}

} // namespace

bool BodyLowering::isInvariant(const Expr* expr, const Stmt& loop) {
  switch (expr->kind) {
  case ExprKind::Variable:
    if (writes(loop.body, expr->variable) || writes(loop.step, expr->variable))
      return false;
    break;
  case ExprKind::Element:
    if (expr->variable->direction != Direction::In)
      return false;
    break;
  case ExprKind::Assign:
  case ExprKind::Increment:
    return false;
  default:
    break;
  }
  for (const Expr* operand : expr->operands)
    if (!isInvariant(operand, loop))
      return false;
  return true;
}

std::optional<BodyLowering::CountedStatement> BodyLowering::countedLoop(const Stmt& stmt) {
  if (stmt.kind != StmtKind::For || !stmt.initial || !stmt.expression ||
      (module_.facts.jumps(stmt.body) & (BreakJump | ReturnJump)))
    return std::nullopt;
  CountedStatement result;
  if (stmt.initial->kind == StmtKind::Declaration && stmt.initial->variables.size() == 1) {
    result.variable = stmt.initial->variables[0];
    result.start = result.variable->initializer;
  } else if (stmt.initial->kind == StmtKind::Expression && stmt.initial->expression->kind == ExprKind::Assign &&
             stmt.initial->expression->op == Operator::None &&
             stmt.initial->expression->operands[0]->kind == ExprKind::Variable) {
    result.variable = stmt.initial->expression->operands[0]->variable;
    result.start = stmt.initial->expression->operands[1];
    result.outlives = true;
  }
  const Variable* variable = result.variable;
  if (!variable || variable->kind != VariableKind::Local || variable->isArray() || !variable->type->isInteger() ||
      !result.start || module_.facts.isPassed(variable) || writes(result.start, variable) ||
      writes(stmt.body, variable))
    return std::nullopt;
  cfamily::Counting& counting = result.counting;
  counting.type = variable->type->scalar();
  counting.step = stepOf(stmt.step, variable);
  const Expr* test = stmt.expression;
  if (counting.step == 0 || test->kind != ExprKind::Binary || variableOf(test->operands[0]) != variable)
    return std::nullopt;
  const bool up = counting.step > 0;
  const std::optional<bool> inclusive = cfamily::includesBound(test->op, counting.step);
  if (!inclusive)
    return std::nullopt;
  counting.inclusive = *inclusive;
  result.bound = test->operands[1];
  const Type *compared = test->operands[0]->type, *own = variable->type;
  if (!compared->isInteger() || compared->bits() < own->bits() || !isInvariant(result.bound, stmt) ||
      writes(stmt.expression, variable))
    return std::nullopt;
  counting.start = indexRangeOf(result.start);
  // A signed variable compared as an unsigned number means itself only while it is not negative.
  if (own->isSigned() && !compared->isSigned() && !(up && counting.start.least >= 0))
    return std::nullopt;
  const Type* given = withoutWidening(result.bound)->type;
  counting.bound = indexRangeOf(result.bound);
  counting.unsignedBound = !given->isSigned() && given->bits() == 64 && counting.bound.least < 0;
  result.plan = cfamily::planCounting(counting);
  return result.plan.isCounted ? std::optional(result) : std::nullopt;
}

void BodyLowering::loop(const Stmt& stmt) {
  Value outerBreak = breakFlag_, outerContinue = continueFlag_;
  if (auto counted = countedLoop(stmt))
    lowerCounted(stmt, *counted);
  else
    generalLoop(stmt);
  breakFlag_ = outerBreak;
  continueFlag_ = outerContinue;
}

/// The body of one iteration; `continue` ends it.
void BodyLowering::loopBody(const Stmt& stmt) {
  continueFlag_ = module_.facts.jumps(stmt.body) & ContinueJump ? flag(false) : Value();
  statement(stmt.body);
}

void BodyLowering::lowerCounted(const Stmt& stmt, const CountedStatement& counted) {
  const Variable* variable = counted.variable;
  const cfamily::Counting& counting = counted.counting;
  const bool up = counting.step > 0;
  const bool nonNegative = up ? isNonNegative(counted.start) : isNonNegative(counted.bound);
  // Where the variable has another value than the expression that starts it, the conversion counts.
  Value start = index(counted.start);
  Value bound = index(counted.bound);
  if (counting.step == 1 && !counting.inclusive && constantOf(counted.start) == 0)
    checkCovers(stmt, variable, counted.bound, bound);
  at(stmt.location);
  CountedLoop made = beginCounting(counting, counted.plan, start, bound, std::string(variable->name),
                                   !up && !variable->type->isSigned() ? "declare it with a signed type"
                                   : variable->type->bits() < 64      ? "declare it with a wider type, such as long"
                                                                      : "");
  auto outer = names_->bindings.find(variable);
  std::optional<Binding> saved = outer == names_->bindings.end() ? std::nullopt : std::optional(outer->second);
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPoint(made.loop.getBody()->getTerminator());
    Binding binding;
    binding.index = made.variable;
    binding.value = fromIndex(binding.index, variable->type);
    binding.nonNegative = nonNegative;
    binding.range = cfamily::valuesIn(counting, counted.plan);
    names_->bindings[variable] = binding;
    loopBody(stmt);
  }
  if (saved)
    names_->bindings[variable] = *saved;
  else
    names_->bindings.erase(variable);
  if (!counted.outlives)
    return;
  at(stmt.location);
  store(fromIndex(valueBehind(made), variable->type), bindingOf(variable).storage);
}

void BodyLowering::generalLoop(const Stmt& stmt) {
  if (stmt.expression)
    checkExact(stmt.expression);
  statement(stmt.initial);
  at(stmt.location);
  const unsigned jumps = module_.facts.jumps(stmt.body);
  breakFlag_ = jumps & BreakJump ? flag(false) : Value();
  const unsigned leaving = jumps & (BreakJump | ReturnJump);
  auto test = [&]() -> Value {
    if (!stmt.expression)
      return noJump(leaving);
    if (leaving == NoJump)
      return condition(stmt.expression);
    return eitherOf(
        noJump(leaving), builder_.getI1Type(), [&] { return condition(stmt.expression); },
        [&] { return truth(false); });
  };
  auto whileOp = make<scf::WhileOp>(mlir::TypeRange(), mlir::ValueRange());
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.createBlock(&whileOp.getBefore());
  if (stmt.kind == StmtKind::DoWhile)
    loopBody(stmt);
  Value again = test();
  at(stmt.location);
  make<scf::ConditionOp>(again, mlir::ValueRange());
  builder_.createBlock(&whileOp.getAfter());
  if (stmt.kind != StmtKind::DoWhile) {
    loopBody(stmt);
    if (stmt.step && leaving != NoJump) {
      auto branch = make<scf::IfOp>(noJump(leaving), /*withElseRegion=*/false);
      mlir::OpBuilder::InsertionGuard inside(builder_);
      builder_.setInsertionPointToStart(branch.thenBlock());
      effect(stmt.step);
    } else if (stmt.step) {
      effect(stmt.step);
    }
  }
  at(stmt.location);
  make<scf::YieldOp>();
}

} // namespace strata::sequoia
