// C's loops. A for loop that counts, by a constant, towards a bound that does not change becomes an scf.for over an
// index, so that what it subscripts can be analysed; every other loop becomes an scf.while over flags.
#include "compiler/sequoia/fold.h"
#include "compiler/sequoia/lower_body.h"

namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace strata::sequoia {

using mlir::Value;

/// for (variable = start; variable < bound; variable += step), in the forms of C that mean this.
struct BodyLowering::CountedLoop {
  const Variable* variable = nullptr;
  const Expr* start = nullptr;
  const Expr* bound = nullptr;
  int64_t step = 1; // negative: downwards
  bool inclusive = false;
  bool outlives = false; // the variable keeps its last value behind the loop
};

namespace {

/// The variable that an expression is, seen through conversions that the program does not show.
const Variable* variableOf(const Expr* expr) {
  while (expr->kind == ExprKind::Cast && expr->isImplicit && expr->type->isInteger() &&
         expr->operands[0]->type->isInteger())
    expr = expr->operands[0];
  return expr->kind == ExprKind::Variable ? expr->variable : nullptr;
}

/// The constant by which an expression steps a variable; 0 when it does something else.
int64_t stepOf(const Expr* step, const Variable* variable) {
  if (!step || (step->kind != ExprKind::Increment && step->kind != ExprKind::Assign) ||
      step->operands[0]->kind != ExprKind::Variable || step->operands[0]->variable != variable)
    return 0;
  auto small = [](const Expr* expr) -> int64_t {
    auto constant = constantOf(expr);
    return constant && *constant >= 1 && *constant <= INT32_MAX ? *constant : 0;
  };
  if (step->kind == ExprKind::Increment)
    return step->op == Operator::Add ? 1 : -1;
  const Expr* value = step->operands[1];
  if (step->op == Operator::Add)
    return small(value);
  if (step->op == Operator::Subtract)
    return -small(value);
  if (step->op != Operator::None)
    return 0;
  while (value->kind == ExprKind::Cast && value->isImplicit)
    value = value->operands[0];
  if (value->kind != ExprKind::Binary || variableOf(value->operands[0]) != variable)
    return 0;
  return value->op == Operator::Add        ? small(value->operands[1])
         : value->op == Operator::Subtract ? -small(value->operands[1])
                                           : 0;
}

uint64_t largestOf(const Type* type) {
  return type->isSigned()     ? (uint64_t(1) << (type->bits() - 1)) - 1
         : type->bits() == 64 ? ~uint64_t(0)
                              : (uint64_t(1) << type->bits()) - 1;
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

std::optional<BodyLowering::CountedLoop> BodyLowering::countedLoop(const Stmt& stmt) {
  if (stmt.kind != StmtKind::For || !stmt.initial || !stmt.expression ||
      (module_.facts.jumps(stmt.body) & (BreakJump | ReturnJump)))
    return std::nullopt;
  CountedLoop result;
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
  result.step = stepOf(stmt.step, variable);
  const Expr* test = stmt.expression;
  if (result.step == 0 || test->kind != ExprKind::Binary || variableOf(test->operands[0]) != variable)
    return std::nullopt;
  const bool up = result.step > 0;
  if (test->op != (up ? Operator::Less : Operator::Greater) &&
      test->op != (up ? Operator::LessEqual : Operator::GreaterEqual))
    return std::nullopt;
  result.inclusive = test->op == Operator::LessEqual || test->op == Operator::GreaterEqual;
  result.bound = test->operands[1];
  const Type *compared = test->operands[0]->type, *own = variable->type;
  if (!compared->isInteger() || compared->bits() < own->bits() || !isInvariant(result.bound, stmt) ||
      writes(stmt.expression, variable))
    return std::nullopt;
  // A signed variable compared as an unsigned number means itself only while it is not negative.
  if (own->isSigned() && !compared->isSigned() && !(up && isNonNegative(result.start)))
    return std::nullopt;
  // Unsigned variables wrap below 0.
  if (!up && !own->isSigned() && (result.inclusive || result.step != -1))
    return std::nullopt;
  return result;
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

void BodyLowering::checkFits(Value bound, const Type* type, const Expr* text, std::string_view variable,
                             int64_t margin) {
  text = withoutWidening(text);
  const Type* given = text->type;
  const bool isConstant = text->kind == ExprKind::Integer;
  const std::string name = "loop variable '" + std::string(variable) + "'";
  if (!given->isSigned() && given->bits() == 64 && !isConstant)
    check(compare(arith::CmpIPredicate::sge, bound, indexConstant(0)), "loop-bound-overflow",
          "the bound of " + name + " is too large");
  if (type->bits() == 64) {
    if (margin > 0 && !isConstant)
      check(compare(arith::CmpIPredicate::sle, bound, indexConstant(INT64_MAX - margin)), "loop-bound-overflow",
            "the bound of " + name + " is too large");
    return;
  }
  // Overflow of a signed variable is undefined; that of its own type's largest value needs no check.
  bool evident =
      given->bits() < type->bits() ||
      (given->bits() == type->bits() && given->isSigned() == type->isSigned() && (type->isSigned() || margin == 0));
  if (evident)
    return;
  Value largest = indexConstant(static_cast<int64_t>(largestOf(type)) - margin);
  check(compare(arith::CmpIPredicate::sle, bound, largest), "loop-bound-overflow",
        name + " of type " + typeName(type) + " cannot count to {0}", bound,
        "declare it with a wider type, such as long");
}

void BodyLowering::lowerCounted(const Stmt& stmt, const CountedLoop& counted) {
  const Variable* variable = counted.variable;
  const bool up = counted.step > 0;
  const int64_t step = up ? counted.step : -counted.step;
  const bool nonNegative = up ? isNonNegative(counted.start) : isNonNegative(counted.bound);
  // Where the variable has another value than the expression that starts it, the conversion counts.
  Value start = index(counted.start);
  Value bound = index(counted.bound);
  at(stmt.location);
  if (up)
    checkFits(bound, variable->type, counted.bound, variable->name, step - 1 + counted.inclusive);
  if (!variable->type->isSigned() && variable->type->bits() == 64 &&
      withoutWidening(counted.start)->kind != ExprKind::Integer)
    check(compare(arith::CmpIPredicate::sge, start, indexConstant(0)), "loop-bound-overflow",
          "the first value of loop variable '" + std::string(variable->name) + "' is too large");
  Value lower = start, upper = counted.inclusive && up ? add(bound, indexConstant(1)) : bound;
  if (!up) {
    // Iterations are counted upwards: so many values lie above the bound.
    lower = indexConstant(0);
    upper = subtract(start, bound);
    if (counted.inclusive)
      upper = add(upper, indexConstant(1));
  }
  auto made = make<scf::ForOp>(lower, upper, indexConstant(step));
  auto outer = names_->bindings.find(variable);
  std::optional<Binding> saved = outer == names_->bindings.end() ? std::nullopt : std::optional(outer->second);
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(made.getBody());
    Binding binding;
    binding.index = up ? made.getInductionVar() : subtract(start, made.getInductionVar());
    binding.value = fromIndex(binding.index, variable->type);
    binding.nonNegative = nonNegative;
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
  Value span = maximum(subtract(upper, lower), indexConstant(0));
  if (step != 1)
    span =
        multiply(folded<arith::DivUIOp>(add(span, indexConstant(step - 1)), indexConstant(step)), indexConstant(step));
  Value last = up ? add(start, span) : subtract(start, span);
  store(fromIndex(last, variable->type), bindingOf(variable).storage);
}

void BodyLowering::generalLoop(const Stmt& stmt) {
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
    auto branch = make<scf::IfOp>(mlir::TypeRange(builder_.getI1Type()), noJump(leaving), true, true);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(branch.thenBlock());
    Value holds = condition(stmt.expression);
    make<scf::YieldOp>(holds);
    builder_.setInsertionPointToStart(branch.elseBlock());
    Value over = truth(false);
    make<scf::YieldOp>(over);
    return branch.getResult(0);
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
