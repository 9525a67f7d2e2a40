// Operators on constant numbers.
#include "compiler/cfamily/check/constant.h"

#include <cmath>

namespace strata::cfamily {

namespace {

Number truth(bool holds) {
  return Number::ofInteger(Scalar::Int, holds);
}

template <typename T>
bool compare(Operator op, T left, T right) {
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
  default:
    return left != right;
  }
}

/// The nearest value of an integer type; 0 for a NaN.
uint64_t nearest(double value, Scalar to) {
  const bool hasSign = isSigned(to);
  const unsigned digits = bitsOf(to) - hasSign;
  const uint64_t largest = ~uint64_t(0) >> (64 - digits);
  const double limit = std::ldexp(1.0, static_cast<int>(digits)); // the largest value and 1, exactly
  if (std::isnan(value))
    return 0;
  if (value >= limit)
    return largest;
  if (!hasSign)
    return value <= 0 ? 0 : static_cast<uint64_t>(value);
  return value < -limit ? ~largest : static_cast<uint64_t>(static_cast<int64_t>(value));
}

Evaluation divide(bool remainder, const Number& left, const Number& right) {
  const Scalar type = left.type;
  if (right.integer == 0)
    return {std::nullopt, Fault::DivisionByZero};
  if (!isSigned(type))
    return {Number::ofInteger(type, remainder ? left.integer % right.integer : left.integer / right.integer)};
  const int64_t a = left.signedValue(), b = right.signedValue();
  if (b == -1 && left.integer == wrapped(uint64_t(1) << (bitsOf(type) - 1), type))
    return {std::nullopt, Fault::DivisionOverflow};
  return {Number::ofInteger(type, static_cast<uint64_t>(remainder ? a % b : a / b))};
}

Evaluation shift(bool isLeft, const Number& left, const Number& amount) {
  // A negative amount is a large one.
  if (amount.integer >= bitsOf(left.type))
    return {std::nullopt, Fault::ShiftAmount};
  if (isLeft)
    return {Number::ofInteger(left.type, left.integer << amount.integer)};
  return {Number::ofInteger(left.type, isSigned(left.type) ? static_cast<uint64_t>(left.signedValue() >> amount.integer)
                                                           : left.integer >> amount.integer)};
}

template <typename T>
T calculate(Operator op, T left, T right) {
  return op == Operator::Add        ? left + right
         : op == Operator::Subtract ? left - right
         : op == Operator::Multiply ? left * right
                                    : left / right;
}

Evaluation onReals(Operator op, const Number& left, const Number& right) {
  if (left.type != Scalar::Float)
    return {Number::ofReal(left.type, calculate(op, left.real, right.real))};
  return {Number::ofReal(left.type, calculate(op, static_cast<float>(left.real), static_cast<float>(right.real)))};
}

Evaluation onIntegers(Operator op, const Number& left, const Number& right) {
  const uint64_t a = left.integer, b = right.integer;
  switch (op) {
  case Operator::Add:
    return {Number::ofInteger(left.type, a + b)};
  case Operator::Subtract:
    return {Number::ofInteger(left.type, a - b)};
  case Operator::Multiply:
    return {Number::ofInteger(left.type, a * b)};
  case Operator::BitAnd:
    return {Number::ofInteger(left.type, a & b)};
  case Operator::BitOr:
    return {Number::ofInteger(left.type, a | b)};
  case Operator::BitXor:
    return {Number::ofInteger(left.type, a ^ b)};
  case Operator::ShiftLeft:
  case Operator::ShiftRight:
    return shift(op == Operator::ShiftLeft, left, right);
  default:
    return divide(op == Operator::Remainder, left, right);
  }
}

} // namespace

Number converted(const Number& number, Scalar to) {
  if (isFloating(number.type)) {
    if (to == Scalar::Bool)
      return Number::ofInteger(to, number.isTrue());
    return isFloating(to) ? Number::ofReal(to, number.real) : Number::ofInteger(to, nearest(number.real, to));
  }
  if (to == Scalar::Bool)
    return Number::ofInteger(to, number.isTrue());
  if (isInteger(to))
    return Number::ofInteger(to, number.integer);
  // Rounded once: a float's is not rounded by way of double.
  const bool hasSign = isSigned(number.type);
  if (to == Scalar::Float)
    return Number::ofReal(to, hasSign ? static_cast<float>(number.signedValue()) : static_cast<float>(number.integer));
  return Number::ofReal(to, hasSign ? static_cast<double>(number.signedValue()) : static_cast<double>(number.integer));
}

Number evaluated(Operator op, const Number& operand) {
  if (op == Operator::Not)
    return truth(!operand.isTrue());
  if (isFloating(operand.type))
    return Number::ofReal(operand.type, op == Operator::Negate ? -operand.real : operand.real);
  return Number::ofInteger(operand.type, op == Operator::Negate       ? uint64_t(0) - operand.integer
                                         : op == Operator::Complement ? ~operand.integer
                                                                      : operand.integer);
}

Evaluation evaluated(Operator op, const Number& left, const Number& right) {
  if (op == Operator::LogicalAnd)
    return {truth(left.isTrue() && right.isTrue())};
  if (op == Operator::LogicalOr)
    return {truth(left.isTrue() || right.isTrue())};
  if (isComparison(op))
    return {truth(isFloating(left.type) ? compare(op, left.real, right.real)
                  : isSigned(left.type) ? compare(op, left.signedValue(), right.signedValue())
                                        : compare(op, left.integer, right.integer))};
  return isFloating(left.type) ? onReals(op, left, right) : onIntegers(op, left, right);
}

} // namespace strata::cfamily
