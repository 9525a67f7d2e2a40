// Integers are values, or not known; each value knows the tunables that it follows from. A division by tunables has to
// leave no remainder, unless the program takes up the remainder.
#include "compiler/sequoia/tune/rehearser.h"

#include "compiler/sequoia/check/fold.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace strata::sequoia::rehearsal {

namespace {

constexpr int64_t mostSteps = 400000; // expressions in one rehearsal
constexpr size_t deepestFunctions = 48;

bool mentionsAny(const Expr* expr, const std::set<const Variable*>& variables) {
  if (!expr)
    return false;
  if (expr->kind == ExprKind::Variable)
    return variables.contains(expr->variable);
  return std::any_of(expr->operands.begin(), expr->operands.end(),
                     [&](const Expr* operand) { return mentionsAny(operand, variables); });
}

const Expr* withoutCasts(const Expr* expr) {
  while (expr->kind == ExprKind::Cast)
    expr = expr->operands[0];
  return expr;
}

bool isQuotient(const Expr* expr) {
  return expr->kind == ExprKind::Binary && (expr->op == Operator::Divide || expr->op == Operator::ShiftRight);
}

/// Whether a sum has a term with a plus for which `test` holds.
template <typename Test>
bool anyAdded(const Expr* sum, Test test, bool isPositive = true) {
  sum = withoutCasts(sum);
  if (sum->kind == ExprKind::Unary && sum->op == Operator::Negate)
    return anyAdded(sum->operands[0], test, !isPositive);
  if (sum->kind == ExprKind::Binary && (sum->op == Operator::Add || sum->op == Operator::Subtract))
    return anyAdded(sum->operands[0], test, isPositive) ||
           anyAdded(sum->operands[1], test, isPositive == (sum->op == Operator::Add));
  return isPositive && test(sum);
}

/// Whether something is added for what a division leaves over: it depends on a remainder or a comparison.
bool takesUpTheRest(const Expr* added) {
  added = withoutCasts(added);
  switch (added->kind) {
  case ExprKind::Conditional:
  case ExprKind::Logical:
    return true;
  case ExprKind::Unary:
    return added->op == Operator::Not || takesUpTheRest(added->operands[0]);
  case ExprKind::Binary:
    switch (added->op) {
    case Operator::Remainder:
    case Operator::Less:
    case Operator::LessEqual:
    case Operator::Greater:
    case Operator::GreaterEqual:
    case Operator::Equal:
    case Operator::NotEqual:
      return true;
    default:
      return false;
    }
  default:
    return false;
  }
}

} // namespace

void variablesOf(const Expr* expr, std::set<const Variable*>& variables) {
  if (expr->kind == ExprKind::Variable)
    variables.insert(expr->variable);
  for (const Expr* operand : expr->operands)
    variablesOf(operand, variables);
}

void Rehearser::report(Misfit::Kind kind, uint32_t instance, const Expr* expr, int64_t value, int64_t other,
                       const std::vector<uint32_t>& from, int64_t extent, size_t dimension) {
  if (!reported_.insert({kind, instance, expr, dimension}).second)
    return;
  Misfit misfit{kind, instance, expr, value, other, {}, extent, dimension};
  for (uint32_t number : from)
    misfit.because.push_back(uses_[number]);
  result_.misfits.push_back(std::move(misfit));
}

void Rehearser::divide(const Expr* expr, const Value& divided, std::optional<int64_t> divisor, const Value& by,
                       Use use) {
  if (by.from.empty() || use.isCovered || (divided.varies && !use.isBound) || divisor == 1 || divisor == 0)
    return;
  std::set<const Variable*> variables;
  variablesOf(expr->operands[1], variables);
  // What is divided has been rounded up where the divisor is added to it, here or in a variable.
  auto roundsUp = [&](const Expr* term) {
    if (mentionsAny(term, variables))
      return true;
    if (term->kind != ExprKind::Variable || term->variable->kind != VariableKind::Local)
      return false;
    const std::vector<uint32_t> from = variable(term->variable).from;
    return std::any_of(from.begin(), from.end(),
                       [&](uint32_t use) { return std::binary_search(by.from.begin(), by.from.end(), use); });
  };
  if (anyAdded(expr->operands[0], roundsUp))
    return;
  // (N - 1) / T + 1 rounds up; (N - T) / T + 1 is N / T.
  if (use.isOneMore && !anyAdded(expr->operands[0], roundsUp, /*isPositive=*/false))
    return;
  noteDivision(expr, divided, divisor, by, variables);
}

void Rehearser::noteDivision(const Expr* expr, const Value& divided, std::optional<int64_t> divisor, const Value& by,
                             const std::set<const Variable*>& variables) {
  // One that is settled when the instance begins is settled so that it divides.
  for (const Variable* each : variables)
    if (each->kind == VariableKind::Tunable && frame_->instance->divisors[each->index])
      return;
  const auto [at, isNew] = divisionAt_.try_emplace({frame_->index, expr}, divisions_.size());
  if (isNew)
    divisions_.push_back({.instance = frame_->index, .expr = expr, .from = {}});
  Division& found = divisions_[at->second];
  const bool isKnown = divided.isInteger() && divisor.has_value();
  if (isKnown) {
    // What is negative, as N - T is where T is larger, has the same divisors as what is left of it.
    const int64_t left = *divisor > 0 ? divided.integer % *divisor : 0;
    const int64_t whole = divided.integer >= 0 ? divided.integer : left < 0 ? left + *divisor : 0;
    found.divided = std::gcd(found.divided, whole);
    found.divisor = *divisor;
    found.isMisfit |= divided.integer % *divisor != 0;
  } else {
    found.isMisfit = found.isUnknown = true;
  }
  Value both;
  both.from = found.from;
  found.from = both.after(by).from;
}

Value Rehearser::variable(const Variable* variable) const {
  if (variable->kind == VariableKind::Tunable) {
    Value value = Value::of(frame_->instance->tunables[variable->index]);
    if (auto at = frame_->settled.find(variable); at != frame_->settled.end())
      value.integer = at->second;
    else if (frame_->instance->divisors[variable->index])
      value.kind = Value::Kind::Unknown;
    value.from.push_back(first_[frame_->index] + variable->index);
    return value;
  }
  auto found = frame_->scalars.find(variable);
  return found == frame_->scalars.end() ? Value() : found->second;
}

Value Rehearser::fitted(Value value, const Type* type) {
  if (!type->isInteger() || !value.isInteger())
    return value;
  const unsigned bits = type->bits();
  const int64_t least = type->isSigned() ? (bits < 64 ? -(int64_t(1) << (bits - 1)) : INT64_MIN) : 0;
  const int64_t most = bits < 64 ? (int64_t(1) << (bits - type->isSigned())) - 1 : INT64_MAX;
  if (value.integer < least || value.integer > most)
    value.kind = Value::Kind::Unknown;
  return value;
}

Value Rehearser::evaluate(const Expr* expr, Use use) {
  if (!expr)
    return {};
  if (++steps_ > mostSteps) {
    result_.isComplete = false;
    return {};
  }
  switch (expr->kind) {
  case ExprKind::Integer:
    return Value::of(expr->signedValue());
  case ExprKind::Real:
    return Value::of(expr->real);
  case ExprKind::Variable:
    return variable(expr->variable);
  case ExprKind::Cast:
    return cast(*expr, evaluate(expr->operands[0], use));
  case ExprKind::Unary:
    return unary(*expr, evaluate(expr->operands[0], use));
  case ExprKind::Binary:
    return binary(*expr, use);
  case ExprKind::Logical:
    return logical(*expr);
  case ExprKind::Conditional:
    return conditional(*expr, use);
  case ExprKind::Comma:
    evaluate(expr->operands[0]);
    return evaluate(expr->operands[1], use);
  case ExprKind::Assign:
    return assign(*expr);
  case ExprKind::Increment: {
    const Expr* target = expr->operands[0];
    Value before = evaluate(target), after = before;
    if (after.isInteger())
      after.integer += expr->op == Operator::Add ? 1 : -1;
    set(target, fitted(after, target->type));
    return expr->isPrefix ? after : before;
  }
  case ExprKind::Call:
    return call(*expr, use);
  case ExprKind::BuiltinCall:
    return builtin(*expr, use);
  case ExprKind::Element:
  case ExprKind::MemberIndex:
  case ExprKind::Member: {
    for (const Expr* operand : expr->operands)
      evaluate(operand);
    Value value;
    value.varies = true;
    return value;
  }
  default:
    return {};
  }
}

Value Rehearser::cast(const Expr& expr, Value value) {
  if (expr.type->isFloating() && value.isInteger()) {
    value.kind = Value::Kind::Real;
    value.real = static_cast<double>(value.integer);
  } else if (expr.type->isInteger() && value.kind == Value::Kind::Real) {
    value.kind = std::fabs(value.real) < 0x1p60 ? Value::Kind::Integer : Value::Kind::Unknown;
    value.integer = value.isInteger() ? static_cast<int64_t>(value.real) : 0;
  }
  return fitted(std::move(value), expr.type);
}

Value Rehearser::unary(const Expr& expr, Value value) {
  if (expr.op == Operator::Not) {
    auto truth = value.truth();
    value.kind = truth ? Value::Kind::Integer : Value::Kind::Unknown;
    value.integer = truth && !*truth;
  } else if (value.isInteger()) {
    if (expr.op == Operator::Negate && value.integer == INT64_MIN)
      value.kind = Value::Kind::Unknown;
    else
      value.integer = expr.op == Operator::Negate       ? -value.integer
                      : expr.op == Operator::Complement ? ~value.integer
                                                        : value.integer;
  } else if (expr.op == Operator::Negate) {
    value.real = -value.real;
  }
  return fitted(std::move(value), expr.type);
}

Value Rehearser::binary(const Expr& expr, Use use) {
  const Expr *leftText = expr.operands[0], *rightText = expr.operands[1];
  Use leftUse = use, rightUse = use;
  if (expr.op == Operator::Add) {
    leftUse.isCovered |= takesUpTheRest(rightText);
    rightUse.isCovered |= takesUpTheRest(leftText);
    leftUse.isOneMore |= constantOf(rightText).value_or(0) > 0;
    rightUse.isOneMore |= constantOf(leftText).value_or(0) > 0;
  } else if (expr.op == Operator::Multiply) {
    // N / t * t: how far whole blocks go.
    auto goesBack = [](const Expr* quotient, const Expr* factor) {
      quotient = withoutCasts(quotient);
      if (!isQuotient(quotient))
        return false;
      std::set<const Variable*> variables;
      variablesOf(quotient->operands[1], variables);
      return mentionsAny(factor, variables);
    };
    leftUse.isCovered |= goesBack(leftText, rightText);
    rightUse.isCovered |= goesBack(rightText, leftText);
  } else if (expr.op != Operator::Subtract && !isQuotient(&expr)) {
    leftUse = rightUse = {};
  } else if (isQuotient(&expr)) {
    rightUse = {};
  }
  Value a = evaluate(leftText, leftUse), b = evaluate(rightText, rightUse);
  Value result = expr.operands[0]->type->isFloating() ? realOf(expr.op, a, b) : integerOf(expr, expr.type, a, b, use);
  result.after(a).after(b);
  return fitted(std::move(result), expr.type);
}

Value Rehearser::realOf(Operator op, const Value& left, const Value& right) {
  if (left.kind != Value::Kind::Real || right.kind != Value::Kind::Real)
    return {};
  const double a = left.real, b = right.real;
  switch (op) {
  case Operator::Add:
    return Value::of(a + b);
  case Operator::Subtract:
    return Value::of(a - b);
  case Operator::Multiply:
    return Value::of(a * b);
  case Operator::Divide:
    return b != 0 ? Value::of(a / b) : Value();
  case Operator::Less:
    return Value::of(int64_t(a < b));
  case Operator::Greater:
    return Value::of(int64_t(a > b));
  case Operator::LessEqual:
    return Value::of(int64_t(a <= b));
  case Operator::GreaterEqual:
    return Value::of(int64_t(a >= b));
  case Operator::Equal:
    return Value::of(int64_t(a == b));
  case Operator::NotEqual:
    return Value::of(int64_t(a != b));
  default:
    return {};
  }
}

Value Rehearser::integerOf(const Expr& expr, const Type* type, const Value& left, const Value& right, Use use) {
  const bool isShift = expr.op == Operator::ShiftLeft || expr.op == Operator::ShiftRight;
  if (isShift && right.isInteger() && (right.integer < 0 || right.integer >= static_cast<int64_t>(type->bits())))
    return report(Misfit::Kind::Shift, frame_->index, &expr, right.integer, type->bits(), right.from), Value();
  if (expr.op == Operator::ShiftRight)
    divide(&expr, left,
           right.isInteger() && right.integer < 63 ? std::optional(int64_t(1) << right.integer) : std::nullopt, right,
           use);
  if (expr.op == Operator::Divide)
    divide(&expr, left, right.isInteger() ? std::optional(right.integer) : std::nullopt, right, use);
  if ((expr.op == Operator::Divide || expr.op == Operator::Remainder) && right.isInteger() && right.integer == 0)
    return report(Misfit::Kind::Zero, frame_->index, &expr, 0, 0, right.from), Value();
  // What a factor of zero makes of the rest is known.
  if (expr.op == Operator::Multiply &&
      ((left.isInteger() && left.integer == 0) || (right.isInteger() && right.integer == 0)))
    return Value::of(int64_t(0));
  if (!left.isInteger() || !right.isInteger())
    return {};
  const int64_t a = left.integer, b = right.integer;
  int64_t wide = 0;
  switch (expr.op) {
  case Operator::Add:
    return __builtin_add_overflow(a, b, &wide) ? Value() : Value::of(wide);
  case Operator::Subtract:
    return __builtin_sub_overflow(a, b, &wide) ? Value() : Value::of(wide);
  case Operator::Multiply:
    return __builtin_mul_overflow(a, b, &wide) ? Value() : Value::of(wide);
  case Operator::Divide:
    return a == INT64_MIN && b == -1 ? Value() : Value::of(a / b);
  case Operator::Remainder:
    return b == -1 ? Value::of(int64_t(0)) : Value::of(a % b);
  case Operator::ShiftLeft:
    return a < 0 || (b > 0 && (a >> (63 - b)) != 0) ? Value() : Value::of(a << b);
  case Operator::ShiftRight:
    return a < 0 ? Value() : Value::of(a >> b);
  case Operator::BitAnd:
    return Value::of(a & b);
  case Operator::BitOr:
    return Value::of(a | b);
  case Operator::BitXor:
    return Value::of(a ^ b);
  case Operator::Less:
    return Value::of(int64_t(a < b));
  case Operator::Greater:
    return Value::of(int64_t(a > b));
  case Operator::LessEqual:
    return Value::of(int64_t(a <= b));
  case Operator::GreaterEqual:
    return Value::of(int64_t(a >= b));
  case Operator::Equal:
    return Value::of(int64_t(a == b));
  case Operator::NotEqual:
    return Value::of(int64_t(a != b));
  default:
    return {};
  }
}

Value Rehearser::logical(const Expr& expr) {
  const bool isAnd = expr.op == Operator::LogicalAnd;
  Value a = evaluate(expr.operands[0]);
  if (auto truth = a.truth(); truth && *truth != isAnd) {
    Value result = Value::of(int64_t(*truth));
    return result.after(a);
  }
  Value b = evaluate(expr.operands[1]);
  auto truth = b.truth();
  Value result = a.truth() && truth ? Value::of(int64_t(*truth)) : Value();
  return result.after(a).after(b);
}

Value Rehearser::conditional(const Expr& expr, Use use) {
  Value condition = evaluate(expr.operands[0]);
  if (auto truth = condition.truth()) {
    Value result = evaluate(expr.operands[*truth ? 1 : 2], use);
    return result.after(condition);
  }
  Value result;
  return result.after(evaluate(expr.operands[1], use)).after(evaluate(expr.operands[2], use)).after(condition);
}

Value Rehearser::assign(const Expr& expr) {
  const Expr* target = expr.operands[0];
  Value value;
  if (expr.op == Operator::None) {
    value = evaluate(expr.operands[1]);
  } else {
    Value a = evaluate(target), b = evaluate(expr.operands[1]);
    const Type* type = expr.computeType ? expr.computeType : expr.type;
    if (!target->type->isFloating() && !type->isFloating())
      value = integerOf(expr, type, a, b, {});
    value.after(a).after(b);
  }
  value = fitted(std::move(value), target->type);
  set(target, value);
  return value;
}

void Rehearser::set(const Expr* target, Value value) {
  if (target->kind != ExprKind::Variable)
    return;
  value.varies |= frame_->loops > 0;
  frame_->scalars[target->variable] = std::move(value);
}

Value Rehearser::call(const Expr& expr, Use use) {
  std::vector<Value> arguments;
  for (const Expr* operand : expr.operands)
    arguments.push_back(evaluate(operand));
  if (calls_ >= deepestFunctions)
    return {};
  for (size_t i = 0; i < arguments.size() && i < expr.function->parameters.size(); ++i)
    frame_->scalars[expr.function->parameters[i]] = arguments[i];
  ++calls_;
  const Use before = std::exchange(returnUse_, use);
  Value outer = std::exchange(frame_->returned, Value());
  execute(expr.function->body);
  returnUse_ = before;
  --calls_;
  return std::exchange(frame_->returned, std::move(outer));
}

Value Rehearser::builtin(const Expr& expr, Use use) {
  std::vector<Value> values;
  for (const Expr* operand : expr.operands)
    values.push_back(evaluate(operand, use));
  Value result;
  auto integers = [&] { return std::all_of(values.begin(), values.end(), [](auto& v) { return v.isInteger(); }); };
  auto reals = [&] {
    return std::all_of(values.begin(), values.end(), [](auto& v) { return v.kind == Value::Kind::Real; });
  };
  switch (expr.builtin) {
  case Builtin::Min:
    if (integers())
      result = Value::of(std::min(values[0].integer, values[1].integer));
    break;
  case Builtin::Max:
    if (integers())
      result = Value::of(std::max(values[0].integer, values[1].integer));
    break;
  case Builtin::Abs:
    if (integers() && values[0].integer != INT64_MIN)
      result = Value::of(std::abs(values[0].integer));
    break;
  case Builtin::Ceil:
    if (reals())
      result = Value::of(std::ceil(values[0].real));
    break;
  case Builtin::Floor:
    if (reals())
      result = Value::of(std::floor(values[0].real));
    break;
  case Builtin::Sqrt:
    if (reals() && values[0].real >= 0)
      result = Value::of(std::sqrt(values[0].real));
    break;
  default:
    break;
  }
  for (const Value& value : values)
    result.after(value);
  return result;
}

} // namespace strata::sequoia::rehearsal
