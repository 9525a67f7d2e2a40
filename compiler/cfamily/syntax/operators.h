// The operators of C, which all notations with C's expressions share: what they are, how they are spelt, and how they
// bind. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

/// A binary operator binds as strongly as its precedence is high; those of one precedence go from left to right.
struct BinaryOperator {
  std::string_view text;
  int precedence = 0;
  Operator op = Operator::None;
};
inline constexpr int lowestPrecedence = 1;

/// The binary operator that is spelt so; null when none is.
const BinaryOperator* findBinary(std::string_view text);
/// The same of + - ! ~ before an operand.
std::optional<Operator> findPrefix(std::string_view text);
/// What an assignment computes: None for "=", Add for "+=".
std::optional<Operator> findAssignment(std::string_view text);

inline bool isComparison(Operator op) {
  return op >= Operator::Less && op <= Operator::NotEqual;
}
/// && and ||, whose right operand is evaluated where the left one does not decide.
inline bool isLogical(Operator op) {
  return op == Operator::LogicalAnd || op == Operator::LogicalOr;
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

/// What to write instead where an operator has operands that it does not take; empty for most.
std::string_view operandHelp(Operator op);

} // namespace strata::cfamily
