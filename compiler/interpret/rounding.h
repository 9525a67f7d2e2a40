// How far a floating-point number may be from the one that the same program computes when its reductions are made in
// another order. A number that does not depend on a reduction is the same, bit for bit. For the others the interpreter
// carries an error bound, the slack, beside the value (rounding.cpp names the source). Plain data.
#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <limits>

namespace strata::interpret {

/// Beside a number x that a reduction had a part in. Let x* be what it would be without rounding behind the terms of
/// the reductions, which are the same in every order. In every order |x - x*| <= relative / (1 - relative) * magnitude
/// + absolute, with the last two in units of the value.
struct Slack {
  double magnitude = -1; ///< the sum of the absolute values of the terms; negative: x is the same in every order
  double relative = 0;   ///< the unit roundoff times the number of roundings that a term goes through
  double absolute = 0;
  /// Of a product that is being reduced: between 2^-spread and 2^spread lies the product of any of its factors.
  double spread = 0;

  bool isNone() const { return magnitude < 0; }
  /// Of |x - x*|; infinite when nobody knows.
  double bound() const {
    if (isNone() || (relative == 0 && absolute == 0))
      return 0;
    double all = absolute + relative / (1 - relative) * magnitude;
    return relative < 0.5 && all >= 0 ? all : std::numeric_limits<double>::infinity();
  }
  static Slack unknown() { return {std::numeric_limits<double>::infinity(), 1, 0}; }
};

/// What an operation does to the slack of its operands.
enum class RoundingRule : uint8_t {
  Whole, ///< its result is no number that could be a little off: an integer
  Keep,  ///< exact, and as far off as its operand
  Add,
  Multiply,
  Divide,
  MultiplyAdd,
  Extreme, ///< one of its operands
  Narrow,  ///< rounds its operand to its own format
  SquareRoot,
  Exponential,
  Logarithm,
  Gentle, ///< changes by no more than its operand does
  Step,   ///< a neighbouring integer
  Compare,
  Unknown, ///< a number that may be off by anything
};
RoundingRule roundingRule(mlir::Operation* op);

/// A combined value: its bits as a number, and its slack.
struct Approximate {
  double value = 0;
  Slack slack;
  double magnitude() const { return slack.isNone() ? (value < 0 ? -value : value) : slack.magnitude; }
  double spread() const;
  /// The largest that its absolute value is in any order.
  double largest() const { return magnitude() + bound(); }
  double bound() const { return slack.bound(); }
};

/// The slack of an operation on numbers of which one has some. `width`: of the result, 32 or 64. REQUIRES: the rule is
/// one of a number.
Slack combine(RoundingRule rule, const Approximate& a, const Approximate& b, const Approximate& c, unsigned width);

/// One rounding to nearest in a format of `width` bits.
double unitRoundoff(unsigned width);

} // namespace strata::interpret
