// One operation on values. See interpret.h.
#include "compiler/equations/interpret.h"

#include <cmath>
#include <limits>

namespace strata::equations {

namespace {

using Kind = ElementType::Kind;

bool isFloat(const ElementType& type) {
  return type.kind == Kind::Float;
}

/// As the type holds it.
int64_t cut(uint64_t bits, const ElementType& type) {
  if (type.kind == Kind::Bool)
    return static_cast<int64_t>(bits & 1);
  const auto unused = static_cast<unsigned>(64 - 8 * type.bytes);
  const auto shifted = static_cast<uint64_t>(bits << unused);
  return type.kind == Kind::UnsignedInteger ? static_cast<int64_t>(shifted >> unused)
                                            : static_cast<int64_t>(shifted) >> unused;
}

Value ofInteger(uint64_t bits, const ElementType& type) {
  return {cut(bits, type), 0};
}

Value ofReal(double value, const ElementType& type) {
  return {0, type.bytes == 4 ? static_cast<double>(static_cast<float>(value)) : value};
}

template <typename T>
T floating(Operation operation, T a, T b, T c) {
  switch (operation) {
  case Operation::Add:
    return a + b;
  case Operation::Subtract:
    return a - b;
  case Operation::Multiply:
    return a * b;
  case Operation::Divide:
    return a / b;
  case Operation::MultiplyAdd:
    return std::fma(a, b, c);
  case Operation::Negate:
    return -a;
  case Operation::Absolute:
    return std::fabs(a);
  case Operation::SquareRoot:
    return std::sqrt(a);
  case Operation::Minimum:
    return b < a ? b : a;
  case Operation::Maximum:
    return a < b ? b : a;
  default:
    return a;
  }
}

bool isLess(const Value& a, const Value& b, const ElementType& type) {
  if (isFloat(type))
    return a.real < b.real;
  return type.kind == Kind::UnsignedInteger ? static_cast<uint64_t>(a.integer) < static_cast<uint64_t>(b.integer)
                                            : a.integer < b.integer;
}

bool isEqual(const Value& a, const Value& b, const ElementType& type) {
  return isFloat(type) ? a.real == b.real : a.integer == b.integer;
}

std::optional<Value> divided(Operation operation, const ElementType& type, int64_t a, int64_t b) {
  const bool isRemainder = operation == Operation::Remainder;
  if (b == 0)
    return std::nullopt;
  if (type.kind == Kind::UnsignedInteger) {
    const auto left = static_cast<uint64_t>(a), right = static_cast<uint64_t>(b);
    return ofInteger(isRemainder ? left % right : left / right, type);
  }
  const int64_t least = type.bytes == 8 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (8 * type.bytes - 1));
  if (a == least && b == -1)
    return std::nullopt;
  return ofInteger(static_cast<uint64_t>(isRemainder ? a % b : a / b), type);
}

std::optional<Value> integer(Operation operation, const ElementType& type, const std::vector<Value>& operands) {
  const auto at = [&](size_t i) { return static_cast<uint64_t>(operands[i].integer); };
  const uint64_t width = type.kind == Kind::Bool ? 1 : 8 * type.bytes;
  switch (operation) {
  case Operation::Add:
    return ofInteger(at(0) + at(1), type);
  case Operation::Subtract:
    return ofInteger(at(0) - at(1), type);
  case Operation::Multiply:
    return ofInteger(at(0) * at(1), type);
  case Operation::MultiplyAdd:
    return ofInteger(at(0) * at(1) + at(2), type);
  case Operation::Divide:
  case Operation::Remainder:
    return divided(operation, type, operands[0].integer, operands[1].integer);
  case Operation::Negate:
    return ofInteger(0 - at(0), type);
  case Operation::And:
    return ofInteger(at(0) & at(1), type);
  case Operation::Or:
    return ofInteger(at(0) | at(1), type);
  case Operation::Xor:
    return ofInteger(at(0) ^ at(1), type);
  case Operation::Not:
    return ofInteger(~at(0), type);
  case Operation::ShiftLeft:
    return ofInteger(at(0) << (at(1) % width), type);
  case Operation::ShiftRight:
    return type.kind == Kind::UnsignedInteger
               ? ofInteger(at(0) >> (at(1) % width), type)
               : ofInteger(static_cast<uint64_t>(operands[0].integer >> (at(1) % width)), type);
  case Operation::Minimum:
    return isLess(operands[1], operands[0], type) ? operands[1] : operands[0];
  case Operation::Maximum:
    return isLess(operands[0], operands[1], type) ? operands[1] : operands[0];
  case Operation::Absolute:
    return type.kind == Kind::SignedInteger && operands[0].integer < 0 ? ofInteger(0 - at(0), type) : operands[0];
  default:
    return operands[0];
  }
}

std::optional<Value> converted(const ElementType& to, const ElementType& from, const Value& value) {
  if (to.kind == Kind::Bool)
    return Value{isFloat(from) ? value.real != 0 : value.integer != 0, 0};
  if (isFloat(to)) {
    if (isFloat(from))
      return ofReal(value.real, to);
    // Rounded once, from the integer.
    if (to.bytes == 4)
      return Value{0, from.kind == Kind::UnsignedInteger
                          ? static_cast<double>(static_cast<float>(static_cast<uint64_t>(value.integer)))
                          : static_cast<double>(static_cast<float>(value.integer))};
    return Value{0, from.kind == Kind::UnsignedInteger ? static_cast<double>(static_cast<uint64_t>(value.integer))
                                                       : static_cast<double>(value.integer)};
  }
  if (!isFloat(from))
    return ofInteger(static_cast<uint64_t>(value.integer), to);
  const double whole = std::trunc(value.real);
  const bool isUnsigned = to.kind == Kind::UnsignedInteger;
  const double end = std::ldexp(1.0, static_cast<int>(8 * to.bytes) - (isUnsigned ? 0 : 1));
  if (!(whole < end && whole >= (isUnsigned ? 0.0 : -end)))
    return std::nullopt;
  return isUnsigned ? ofInteger(static_cast<uint64_t>(whole), to)
                    : ofInteger(static_cast<uint64_t>(static_cast<int64_t>(whole)), to);
}

} // namespace

std::optional<Value> evaluate(Operation operation, const ElementType& type, const ElementType& operandType,
                              const std::vector<Value>& given) {
  // The same bits are another number for another user: each reads them by the type that it takes.
  std::vector<Value> operands = given;
  if (!isFloat(operandType))
    for (size_t i = operation == Operation::Select ? 1 : 0; i < operands.size(); ++i)
      operands[i].integer = cut(static_cast<uint64_t>(operands[i].integer), operandType);
  switch (operation) {
  case Operation::Copy:
    return operands[0];
  case Operation::Less:
    return Value{isLess(operands[0], operands[1], operandType), 0};
  case Operation::LessOrEqual:
    return Value{isLess(operands[0], operands[1], operandType) || isEqual(operands[0], operands[1], operandType), 0};
  case Operation::Equal:
    return Value{isEqual(operands[0], operands[1], operandType), 0};
  case Operation::NotEqual:
    return Value{!isEqual(operands[0], operands[1], operandType), 0};
  case Operation::Select:
    return operands[0].integer ? operands[1] : operands[2];
  case Operation::Convert:
    return converted(type, operandType, operands[0]);
  default:
    break;
  }
  if (!isFloat(type))
    return integer(operation, type, operands);
  const auto at = [&](size_t i) { return i < operands.size() ? operands[i].real : 0.0; };
  if (type.bytes == 4)
    return Value{0, static_cast<double>(floating(operation, static_cast<float>(at(0)), static_cast<float>(at(1)),
                                                 static_cast<float>(at(2))))};
  return Value{0, floating(operation, at(0), at(1), at(2))};
}

} // namespace strata::equations
