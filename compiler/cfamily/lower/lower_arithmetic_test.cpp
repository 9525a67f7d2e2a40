// Lowered operators and conversions, executed by the interpreter, against the evaluator of constants: all number types,
// at their limits, and the failures of those that C leaves undefined.
#include "compiler/cfamily/check/constant.h"
#include "compiler/cfamily/lower/code_testing.h"

#include <cmath>
#include <cstring>

namespace strata::cfamily::testing {
namespace {

uint64_t bitsOfNumber(const Number& number) {
  if (number.type == Scalar::Float)
    return std::bit_cast<uint32_t>(static_cast<float>(number.real));
  if (number.type == Scalar::Double)
    return std::bit_cast<uint64_t>(number.real);
  const unsigned bits = bitsOf(number.type);
  return bits == 64 ? number.integer : number.integer & ((uint64_t(1) << bits) - 1);
}

std::vector<Number> samples(Scalar type) {
  std::vector<Number> numbers;
  if (isFloating(type)) {
    for (double value : {0.0, 1.0, -0.5, 3.75, 1e9, -3e18, 2e19, HUGE_VAL, std::nan("")})
      numbers.push_back(Number::ofReal(type, value));
    return numbers;
  }
  const uint64_t top = uint64_t(1) << (bitsOf(type) - 1);
  for (uint64_t value : {uint64_t(0), uint64_t(1), uint64_t(2), uint64_t(7), ~uint64_t(0), top, top - 1, top + 1})
    numbers.push_back(Number::ofInteger(type, value));
  return numbers;
}

const char* codeOf(Fault fault) {
  return fault == Fault::DivisionByZero     ? "division-by-zero"
         : fault == Fault::DivisionOverflow ? "division-overflow"
         : fault == Fault::ShiftAmount      ? "shift-amount"
                                            : "";
}

constexpr Scalar types[] = {Scalar::Int,          Scalar::UnsignedInt, Scalar::Long,
                            Scalar::UnsignedLong, Scalar::Float,       Scalar::Double};

TEST(LowerArithmetic, OperatorsAreThoseOfTheEvaluator) {
  for (Scalar type : types)
    for (int each = static_cast<int>(Operator::Add); each <= static_cast<int>(Operator::BitOr); ++each) {
      const Operator op = static_cast<Operator>(each);
      if (needsIntegers(op) && isFloating(type))
        continue;
      Code code({type, type}, isComparison(op) ? Scalar::Bool : type, [&](Code& to, mlir::ValueRange operands) {
        if (isComparison(op))
          return to.comparison(op, type, operands[0], operands[1]);
        if (isShift(op))
          return to.shift(op == Operator::ShiftLeft, type, operands[0], type, {operands[1], {}});
        return to.arithmetic(op, type, {operands[0], {}}, {operands[1], {}});
      });
      for (const Number& a : samples(type))
        for (const Number& b : samples(type)) {
          SCOPED_TRACE(std::string(scalarName(type)) + " " + operatorText(op));
          const Evaluation expected = evaluated(op, a, b);
          const Code::Outcome outcome = code.run({bitsOfNumber(a), bitsOfNumber(b)});
          EXPECT_EQ(outcome.failure, codeOf(expected.fault));
          if (!expected.value)
            continue;
          const bool isNaN = isFloating(expected.value->type) && std::isnan(expected.value->real);
          if (!isNaN) // of which there are many
            EXPECT_EQ(outcome.bits, bitsOfNumber(*expected.value)) << a.integer << " " << b.integer;
        }
    }
}

TEST(LowerArithmetic, UnaryOperatorsAreThoseOfTheEvaluator) {
  for (Scalar type : types)
    for (Operator op : {Operator::Negate, Operator::Complement}) {
      if (op == Operator::Complement && isFloating(type))
        continue;
      Code code({type}, type, [&](Code& to, mlir::ValueRange operands) {
        return op == Operator::Negate ? to.negated(type, operands[0]) : to.complement(operands[0]);
      });
      for (const Number& a : samples(type))
        if (!std::isnan(a.real))
          EXPECT_EQ(code.run({bitsOfNumber(a)}).bits, bitsOfNumber(evaluated(op, a))) << scalarName(type);
    }
}

TEST(LowerArithmetic, ConversionsAreThoseOfTheEvaluator) {
  for (int from = 0; from <= static_cast<int>(Scalar::Double); ++from)
    for (int to = 0; to <= static_cast<int>(Scalar::Double); ++to) {
      const Scalar source = static_cast<Scalar>(from), target = static_cast<Scalar>(to);
      Code code({source}, target,
                [&](Code& into, mlir::ValueRange operands) { return into.converted(operands[0], source, target); });
      for (const Number& a : samples(source)) {
        const Number expected = converted(a, target);
        if (!isFloating(target) || !std::isnan(expected.real))
          EXPECT_EQ(code.run({bitsOfNumber(a)}).bits, bitsOfNumber(expected))
              << scalarName(source) << " to " << scalarName(target) << " of " << a.integer << " or " << a.real;
      }
    }
}

TEST(LowerArithmetic, WhatIsKnownToBeSafeIsNotChecked) {
  const auto checks = [](Operator op, Range left, Range right) {
    Code code({Scalar::Int, Scalar::Int}, Scalar::Int, [&](Code& to, mlir::ValueRange operands) {
      EXPECT_EQ(Code::isSafe(op, Scalar::Int, left, right), right.within(1, 31));
      return isShift(op) ? to.shift(true, Scalar::Int, operands[0], Scalar::Int, {operands[1], right})
                         : to.arithmetic(op, Scalar::Int, {operands[0], left}, {operands[1], right});
    });
    return code.count<svm::CheckOp>();
  };
  EXPECT_EQ(checks(Operator::Divide, {}, {}), 2);
  EXPECT_EQ(checks(Operator::Divide, {}, {0, 31}), 1);
  EXPECT_EQ(checks(Operator::Divide, {}, {1, 31}), 0);
  EXPECT_EQ(checks(Operator::Remainder, {}, {1, 31}), 0);
  EXPECT_EQ(checks(Operator::ShiftLeft, {}, {0, 32}), 1);
  EXPECT_EQ(checks(Operator::ShiftLeft, {}, {1, 31}), 0);
}

} // namespace
} // namespace strata::cfamily::testing
