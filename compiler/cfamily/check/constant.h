// The evaluator of constant expressions: one operator on numbers whose types are known, with the arithmetic of the
// target (two's complement, IEEE 754 in the type's own precision). What C leaves undefined is settled as the languages
// say: integers wrap, a real that an integer type cannot hold becomes its nearest value, a NaN 0; what ends a program
// with an error has no value. Pure functions; safe from any thread.
#pragma once

#include "compiler/cfamily/check/scalar.h"
#include "compiler/cfamily/syntax/operators.h"

#include <optional>

namespace strata::cfamily {

/// A number with its type. An integer is extended to 64 bits by its type's sign; a real is rounded to its type.
struct Number {
  Scalar type = Scalar::Int;
  uint64_t integer = 0;
  double real = 0;

  static Number ofInteger(Scalar type, uint64_t value) { return {type, wrapped(value, type), 0}; }
  static Number ofReal(Scalar type, double value) {
    return {type, 0, type == Scalar::Float ? static_cast<double>(static_cast<float>(value)) : value};
  }
  int64_t signedValue() const { return static_cast<int64_t>(integer); }
  bool isTrue() const { return isFloating(type) ? real != 0 : integer != 0; }
};

/// What an operation does that ends a program with an error.
enum class Fault : uint8_t { None, DivisionByZero, DivisionOverflow, ShiftAmount };

struct Evaluation {
  std::optional<Number> value; // none where there is a fault
  Fault fault = Fault::None;
};

/// A conversion of C.
Number converted(const Number& number, Scalar to);

/// + - ! ~ of a number that has been promoted (! takes any, and gives an int).
Number evaluated(Operator op, const Number& operand);

/// A binary operator on numbers that have been converted to one type; a shift's amount keeps its own. Comparisons and
/// logical operators give an int.
Evaluation evaluated(Operator op, const Number& left, const Number& right);

} // namespace strata::cfamily
