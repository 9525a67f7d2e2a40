// Error bounds as in N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, chapters 3 and 4. A sum
// of n terms in any order is within (n - 1) u / (1 - (n - 1) u) of the exact one, times the sum of the terms' absolute
// values. The same holds for every value computed by sums and products, with the same expression on absolute values in
// place of that sum. So each such value carries that expression and the number of roundings. What other operations make
// of the bound follows from how fast they change.
#include "compiler/interpret/rounding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <cmath>

namespace strata::interpret {

double unitRoundoff(unsigned width) {
  return width == 32 ? 0x1p-24 : width == 64 ? 0x1p-53 : 1;
}

double Approximate::spread() const {
  if (!slack.isNone())
    return slack.spread;
  return value == 0 || !std::isfinite(value) ? 0 : std::fabs(std::log2(std::fabs(value)));
}

/// What a product or quotient may lose below the normal numbers.
static double leastStep(unsigned width) {
  return width == 32 ? 0x1p-149 : 0x1p-1074;
}

RoundingRule roundingRule(mlir::Operation* op) {
  const bool isNumber = mlir::isa<mlir::FloatType>(op->getResult(0).getType());
  return llvm::StringSwitch<RoundingRule>(op->getName().getStringRef())
      .Cases("arith.addf", "arith.subf", RoundingRule::Add)
      .Case("arith.mulf", RoundingRule::Multiply)
      .Case("arith.divf", RoundingRule::Divide)
      .Case("math.fma", RoundingRule::MultiplyAdd)
      .Cases("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", RoundingRule::Extreme)
      .Cases("arith.negf", "math.absf", "arith.extf", "arith.bitcast", RoundingRule::Keep)
      .Case("arith.truncf", RoundingRule::Narrow)
      .Case("math.sqrt", RoundingRule::SquareRoot)
      .Case("math.exp", RoundingRule::Exponential)
      .Case("math.log", RoundingRule::Logarithm)
      .Cases("math.sin", "math.cos", "math.tanh", "math.atan", RoundingRule::Gentle)
      .Cases("math.floor", "math.ceil", "math.round", "math.roundeven", "math.trunc", RoundingRule::Step)
      .Case("arith.cmpf", RoundingRule::Compare)
      .Default(isNumber ? RoundingRule::Unknown : RoundingRule::Whole);
}

/// Of a function whose results for the two operands differ by no more than `distance`, computed to a few units in the
/// last place.
static Slack changed(double result, double distance, unsigned width) {
  if (!std::isfinite(distance))
    return Slack::unknown();
  return {std::fabs(result) + distance, 8 * unitRoundoff(width), distance};
}

static Slack quotient(const Approximate& a, const Approximate& b, double unit, double step) {
  const double least = std::fabs(b.value) - 2 * b.bound();
  if (!(least > 0))
    return Slack::unknown();
  if (b.slack.isNone())
    return {a.magnitude() / least, a.slack.relative + unit, a.slack.absolute / least + step};
  const double largest = std::fabs(a.value) + a.bound();
  return {largest / least, unit, a.bound() / least + largest * b.bound() / (least * least) + step};
}

Slack combine(RoundingRule rule, const Approximate& a, const Approximate& b, const Approximate& c, unsigned width) {
  const double unit = unitRoundoff(width), step = leastStep(width);
  auto product = [&] {
    return Slack{a.magnitude() * b.magnitude(),
                 a.slack.relative + b.slack.relative + a.slack.relative * b.slack.relative,
                 a.slack.absolute * b.largest() + b.slack.absolute * a.largest() + step, a.spread() + b.spread()};
  };
  auto sum = [&](const Slack& one, const Slack& other) {
    return Slack{one.magnitude + other.magnitude, std::max(one.relative, other.relative) + unit,
                 one.absolute + other.absolute};
  };
  auto with = [](const Approximate& each) { return Slack{each.magnitude(), each.slack.relative, each.slack.absolute}; };
  const double least = a.value - 2 * a.bound();
  switch (rule) {
  case RoundingRule::Keep:
    return a.slack;
  case RoundingRule::Add:
    return sum(with(a), with(b));
  case RoundingRule::Multiply: {
    Slack result = product();
    result.relative += unit;
    return result;
  }
  case RoundingRule::MultiplyAdd:
    return sum(product(), with(c));
  case RoundingRule::Divide:
    return quotient(a, b, unit, step);
  case RoundingRule::Extreme:
    return {std::max(a.magnitude(), b.magnitude()), std::max(a.slack.relative, b.slack.relative),
            std::max(a.slack.absolute, b.slack.absolute)};
  case RoundingRule::Narrow:
    return {a.magnitude(), a.slack.relative + unit, a.slack.absolute + step};
  case RoundingRule::SquareRoot:
    return changed(std::sqrt(std::max(a.value, 0.0)),
                   least > 0 ? a.bound() / (2 * std::sqrt(least)) : std::sqrt(2 * a.bound()), width);
  case RoundingRule::Exponential:
    return changed(std::exp(a.value), std::exp(a.value) * std::expm1(2 * a.bound()), width);
  case RoundingRule::Logarithm:
    return least > 0 ? changed(std::log(a.value), a.bound() / least, width) : Slack::unknown();
  case RoundingRule::Gentle:
    return changed(1, a.bound(), width);
  case RoundingRule::Step:
    return a.bound() == 0 ? a.slack : Slack{a.largest() + 1, 0, a.bound() + 1};
  default:
    return Slack::unknown();
  }
}

} // namespace strata::interpret
