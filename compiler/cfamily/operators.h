// The operators of C, which all notations with C's expressions share.
#pragma once

#include <cstdint>

namespace strata::cfamily {

enum class Operator : uint8_t {
  None,
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
  ShiftLeft,
  ShiftRight,
  Less,
  Greater,
  LessEqual,
  GreaterEqual,
  Equal,
  NotEqual,
  BitAnd,
  BitXor,
  BitOr,
  LogicalAnd,
  LogicalOr,
  Plus,
  Negate,
  Not,
  Complement
};

/// As it is written.
const char* operatorText(Operator op);

inline bool isComparison(Operator op) {
  return op >= Operator::Less && op <= Operator::NotEqual;
}
inline bool isShift(Operator op) {
  return op == Operator::ShiftLeft || op == Operator::ShiftRight;
}
/// `/` and `%`.
inline bool isDivision(Operator op) {
  return op == Operator::Divide || op == Operator::Remainder;
}
/// Operators that take no reals.
inline bool needsIntegers(Operator op) {
  return op == Operator::Remainder || isShift(op) || op == Operator::BitAnd || op == Operator::BitOr ||
         op == Operator::BitXor;
}
/// a < b is b > a.
Operator mirrored(Operator comparison);

} // namespace strata::cfamily
