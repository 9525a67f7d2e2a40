// Construction, evaluation and text of index expressions. Pure functions; safe from any thread.
#include "compiler/hbir/program/index_expression.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace strata::hbir {

namespace {

using Kind = IndexExpression::Kind;

/// Rounds down; nothing for a zero divisor and for the one quotient that does not fit.
std::optional<int64_t> floorDivide(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min()))
    return std::nullopt;
  const int64_t quotient = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::optional<int64_t> compute(Kind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (kind) {
  case Kind::Add:
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case Kind::Subtract:
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case Kind::Multiply:
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case Kind::Divide:
    return floorDivide(a, b);
  case Kind::Modulo:
    if (b == 0)
      return std::nullopt;
    if (b == -1)
      return 0;
    result = a % b;
    return result != 0 && (result < 0) != (b < 0) ? result + b : result;
  case Kind::Minimum:
    return std::min(a, b);
  case Kind::Constant:
  case Kind::Variable:
    break;
  }
  return std::nullopt;
}

bool isValue(const IndexExpression& expression, int64_t value) {
  return expression.isConstant() && expression.value == value;
}

/// An operation whose right operand is a constant above zero.
bool isByPositive(const IndexExpression& expression, Kind kind) {
  return expression.kind == kind && expression.operands[1].isConstant() && expression.operands[1].value > 0;
}

/// e of e/c*c + e%c.
std::optional<IndexExpression> recompose(const IndexExpression& left, const IndexExpression& right) {
  if (!isByPositive(left, Kind::Multiply) || !isByPositive(right, Kind::Modulo) ||
      left.operands[1] != right.operands[1] || left.operands[0].kind != Kind::Divide)
    return std::nullopt;
  const IndexExpression& whole = right.operands[0];
  if (left.operands[0] != IndexExpression::make(Kind::Divide, whole, right.operands[1]))
    return std::nullopt;
  return whole;
}

/// How tightly an operator binds, as in C; a function call binds like a name.
unsigned precedence(Kind kind) {
  switch (kind) {
  case Kind::Add:
  case Kind::Subtract:
    return 1;
  case Kind::Multiply:
  case Kind::Divide:
  case Kind::Modulo:
    return 2;
  default:
    return 3;
  }
}

const char* symbol(Kind kind) {
  switch (kind) {
  case Kind::Add:
    return " + ";
  case Kind::Subtract:
    return " - ";
  case Kind::Multiply:
    return "*";
  case Kind::Divide:
    return "/";
  default:
    return "%";
  }
}

} // namespace

IndexExpression IndexExpression::make(Kind kind, IndexExpression left, IndexExpression right) {
  if (left.isConstant() && right.isConstant())
    if (const std::optional<int64_t> value = compute(kind, left.value, right.value))
      return constant(*value);
  switch (kind) {
  case Kind::Add:
    if (isValue(left, 0))
      return right;
    if (isValue(right, 0))
      return left;
    if (left.isConstant()) // constants stand on the right, where they meet
      std::swap(left, right);
    if (right.isConstant() && left.kind == Kind::Add && left.operands[1].isConstant())
      if (const std::optional<int64_t> sum = compute(Kind::Add, left.operands[1].value, right.value))
        return make(Kind::Add, IndexExpression(std::move(left.operands[0])), constant(*sum));
    if (const std::optional<IndexExpression> whole = recompose(left, right))
      return *whole;
    break;
  case Kind::Subtract:
    if (isValue(right, 0))
      return left;
    if (left == right)
      return constant(0);
    break;
  case Kind::Multiply:
    if (isValue(left, 1))
      return right;
    if (isValue(right, 1))
      return left;
    if (isValue(left, 0) || isValue(right, 0))
      return constant(0);
    break;
  case Kind::Divide:
    if (isValue(right, 1))
      return left;
    if (isByPositive(left, Kind::Divide) && right.isConstant() && right.value > 0)
      if (const std::optional<int64_t> divisor = compute(Kind::Multiply, left.operands[1].value, right.value))
        return make(Kind::Divide, IndexExpression(std::move(left.operands[0])), constant(*divisor));
    break;
  case Kind::Modulo:
    if (isValue(right, 1))
      return constant(0);
    if (isByPositive(left, Kind::Modulo) && right.isConstant() && right.value > 0 &&
        left.operands[1].value % right.value == 0)
      return make(Kind::Modulo, IndexExpression(std::move(left.operands[0])), std::move(right));
    break;
  case Kind::Minimum:
    if (left == right)
      return left;
    break;
  case Kind::Constant:
  case Kind::Variable:
    break;
  }
  IndexExpression result{kind, 0, {}};
  result.operands.reserve(2);
  result.operands.push_back(std::move(left));
  result.operands.push_back(std::move(right));
  return result;
}

std::optional<int64_t> IndexExpression::evaluate(const std::vector<int64_t>& variables) const {
  if (kind == Kind::Constant)
    return value;
  if (kind == Kind::Variable)
    return value >= 0 && static_cast<size_t>(value) < variables.size()
               ? std::optional(variables[static_cast<size_t>(value)])
               : std::nullopt;
  const std::optional<int64_t> left = operands[0].evaluate(variables);
  const std::optional<int64_t> right = operands[1].evaluate(variables);
  return left && right ? compute(kind, *left, *right) : std::nullopt;
}

IndexExpression IndexExpression::substitute(const std::vector<IndexExpression>& replacements) const {
  if (kind == Kind::Constant)
    return *this;
  if (kind == Kind::Variable)
    return value >= 0 && static_cast<size_t>(value) < replacements.size() ? replacements[static_cast<size_t>(value)]
                                                                          : *this;
  return make(kind, operands[0].substitute(replacements), operands[1].substitute(replacements));
}

std::string IndexExpression::text(const std::vector<std::string>& names) const {
  if (kind == Kind::Constant)
    return std::to_string(value);
  if (kind == Kind::Variable)
    return value >= 0 && static_cast<size_t>(value) < names.size() ? names[static_cast<size_t>(value)]
                                                                   : "v" + std::to_string(value);
  const std::string left = operands[0].text(names), right = operands[1].text(names);
  if (kind == Kind::Minimum)
    return "min(" + left + ", " + right + ")";
  const auto bracket = [](const std::string& text, bool needed) { return needed ? "(" + text + ")" : text; };
  // Addition of a negative constant reads as subtraction; other negative numbers on the right stand in brackets.
  if (kind == Kind::Add && operands[1].isConstant() && operands[1].value < 0 &&
      operands[1].value != std::numeric_limits<int64_t>::min())
    return left + " - " + std::to_string(-operands[1].value);
  const bool associative = kind == Kind::Add && operands[1].kind == Kind::Add;
  return bracket(left, precedence(operands[0].kind) < precedence(kind) ||
                           (operands[0].isConstant() && operands[0].value < 0)) +
         symbol(kind) +
         bracket(right, (precedence(operands[1].kind) <= precedence(kind) && !associative) ||
                            (operands[1].isConstant() && operands[1].value < 0));
}

} // namespace strata::hbir
