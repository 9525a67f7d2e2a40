// Evaluates operators on literals.
#include "compiler/sequoia/fold.h"

#include <cmath>

namespace strata::sequoia {

namespace {

void makeInteger(Expr& expr, uint64_t value) {
  expr.kind = ExprKind::Integer;
  expr.integer = wrapInteger(value, expr.type);
  expr.operands.clear();
}

void makeReal(Expr& expr, double value) {
  expr.kind = ExprKind::Real;
  expr.real = expr.type->kind == TypeKind::Float ? static_cast<double>(static_cast<float>(value)) : value;
  expr.operands.clear();
}

bool isTrue(const Expr& expr) {
  return expr.kind == ExprKind::Integer ? expr.integer != 0 : expr.real != 0;
}

/// Compares or calculates; nullopt where C leaves the result undefined.
template <typename T>
std::optional<T> calculate(Operator op, T left, T right) {
  switch (op) {
  case Operator::Add:
    return left + right;
  case Operator::Subtract:
    return left - right;
  case Operator::Multiply:
    return left * right;
  default:
    return std::nullopt;
  }
}

template <typename T>
std::optional<bool> compare(Operator op, T left, T right) {
  switch (op) {
  case Operator::Less:
    return left < right;
  case Operator::Greater:
    return left > right;
  case Operator::LessEqual:
    return left <= right;
  case Operator::GreaterEqual:
    return left >= right;
  case Operator::Equal:
    return left == right;
  case Operator::NotEqual:
    return left != right;
  default:
    return std::nullopt;
  }
}

std::optional<uint64_t> divide(const Expr& expr, const Expr& left, const Expr& right) {
  bool remainder = expr.op == Operator::Remainder;
  if (right.integer == 0)
    return std::nullopt;
  if (!expr.type->isSigned())
    return remainder ? left.integer % right.integer : left.integer / right.integer;
  int64_t a = left.signedValue(), b = right.signedValue();
  if (b == -1)
    return remainder ? 0 : uint64_t(0) - left.integer;
  return static_cast<uint64_t>(remainder ? a % b : a / b);
}

std::optional<uint64_t> shift(const Expr& expr, const Expr& left, const Expr& right) {
  if (right.integer >= expr.type->bits())
    return std::nullopt;
  if (expr.op == Operator::ShiftLeft)
    return left.integer << right.integer;
  return expr.type->isSigned() ? static_cast<uint64_t>(left.signedValue() >> right.integer)
                               : left.integer >> right.integer;
}

void foldIntegers(Expr& expr, const Expr& left, const Expr& right) {
  auto comparison = left.type->isSigned() ? compare<int64_t>(expr.op, left.signedValue(), right.signedValue())
                                          : compare<uint64_t>(expr.op, left.integer, right.integer);
  std::optional<uint64_t> value;
  if (comparison)
    value = *comparison;
  else if (expr.op == Operator::Divide || expr.op == Operator::Remainder)
    value = divide(expr, left, right);
  else if (expr.op == Operator::ShiftLeft || expr.op == Operator::ShiftRight)
    value = shift(expr, left, right);
  else if (expr.op == Operator::BitAnd)
    value = left.integer & right.integer;
  else if (expr.op == Operator::BitOr)
    value = left.integer | right.integer;
  else if (expr.op == Operator::BitXor)
    value = left.integer ^ right.integer;
  else
    value = calculate<uint64_t>(expr.op, left.integer, right.integer);
  if (value)
    makeInteger(expr, *value);
}

void foldReals(Expr& expr, const Expr& left, const Expr& right) {
  if (auto comparison = compare<double>(expr.op, left.real, right.real)) {
    makeInteger(expr, *comparison);
    return;
  }
  bool isFloat = expr.type->kind == TypeKind::Float;
  float a = static_cast<float>(left.real), b = static_cast<float>(right.real);
  std::optional<double> value;
  if (expr.op == Operator::Divide) {
    if (right.real != 0)
      value = isFloat ? static_cast<double>(a / b) : left.real / right.real;
  } else if (isFloat) {
    if (auto single = calculate<float>(expr.op, a, b))
      value = *single;
  } else {
    value = calculate<double>(expr.op, left.real, right.real);
  }
  if (value)
    makeReal(expr, *value);
}

void foldCast(Expr& expr, const Expr& from) {
  if (!expr.type->isArithmetic())
    return;
  if (from.kind == ExprKind::Integer) {
    if (expr.type->isInteger())
      makeInteger(expr, from.integer);
    else if (expr.type->kind == TypeKind::Float)
      makeReal(expr, from.type->isSigned() ? static_cast<float>(from.signedValue()) : static_cast<float>(from.integer));
    else
      makeReal(expr,
               from.type->isSigned() ? static_cast<double>(from.signedValue()) : static_cast<double>(from.integer));
    return;
  }
  if (expr.type->isFloating()) {
    makeReal(expr, from.real);
    return;
  }
  // Out of range is undefined in C; then the cast stays for the machine to do.
  double whole = std::trunc(from.real);
  if (whole >= -0x1p63 && whole < 0x1p63 && expr.type->isSigned() && expr.type->bits() == 64)
    makeInteger(expr, static_cast<uint64_t>(static_cast<int64_t>(whole)));
  else if (whole >= 0 && whole < 0x1p64 && expr.type->bits() == 64 && !expr.type->isSigned())
    makeInteger(expr, static_cast<uint64_t>(whole));
  else if (std::fabs(whole) < 0x1p53) {
    uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(whole));
    if (static_cast<double>(static_cast<int64_t>(wrapInteger(bits, expr.type))) == whole)
      makeInteger(expr, bits);
  }
}

} // namespace

uint64_t wrapInteger(uint64_t value, const Type* type) {
  uint32_t bits = type->bits();
  if (bits == 0 || bits >= 64)
    return value;
  value <<= 64 - bits;
  return type->isSigned() ? static_cast<uint64_t>(static_cast<int64_t>(value) >> (64 - bits)) : value >> (64 - bits);
}

void fold(Expr& expr) {
  for (const Expr* operand : expr.operands)
    if (!operand->isConstant() && expr.kind != ExprKind::Conditional)
      return;
  switch (expr.kind) {
  case ExprKind::Unary: {
    const Expr& operand = *expr.operands[0];
    if (expr.op == Operator::Not)
      makeInteger(expr, !isTrue(operand));
    else if (operand.kind == ExprKind::Real)
      makeReal(expr, expr.op == Operator::Negate ? -operand.real : operand.real);
    else
      makeInteger(expr, expr.op == Operator::Negate       ? uint64_t(0) - operand.integer
                        : expr.op == Operator::Complement ? ~operand.integer
                                                          : operand.integer);
    return;
  }
  case ExprKind::Binary: {
    const Expr &left = *expr.operands[0], &right = *expr.operands[1];
    if (left.kind == ExprKind::Integer && right.kind == ExprKind::Integer)
      foldIntegers(expr, left, right);
    else if (left.kind == ExprKind::Real && right.kind == ExprKind::Real)
      foldReals(expr, left, right);
    return;
  }
  case ExprKind::Logical: {
    bool left = isTrue(*expr.operands[0]), right = isTrue(*expr.operands[1]);
    makeInteger(expr, expr.op == Operator::LogicalAnd ? left && right : left || right);
    return;
  }
  case ExprKind::Cast:
    foldCast(expr, *expr.operands[0]);
    return;
  case ExprKind::Conditional: {
    if (!expr.operands[0]->isConstant())
      return;
    const Expr* chosen = expr.operands[isTrue(*expr.operands[0]) ? 1 : 2];
    if (chosen->kind == ExprKind::Integer)
      makeInteger(expr, chosen->integer);
    else if (chosen->kind == ExprKind::Real)
      makeReal(expr, chosen->real);
    return;
  }
  default:
    return;
  }
}

std::optional<int64_t> constantOf(const Expr* expr) {
  if (!expr || expr->kind != ExprKind::Integer)
    return std::nullopt;
  return expr->signedValue();
}

} // namespace strata::sequoia
