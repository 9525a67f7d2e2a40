// Ranges against the values of all small operands.
#include "compiler/cfamily/check/range.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace strata::cfamily {
namespace {

TEST(Range, HoldsEveryResult) {
  const Operator operators[] = {Operator::Add,    Operator::Subtract,  Operator::Multiply,   Operator::Divide,
                                Operator::BitAnd, Operator::Remainder, Operator::ShiftRight, Operator::ShiftLeft,
                                Operator::BitOr,  Operator::BitXor,    Operator::Less};
  auto result = [](Operator op, int64_t a, int64_t b) -> std::optional<int64_t> {
    switch (op) {
    case Operator::Add:
      return a + b;
    case Operator::Subtract:
      return a - b;
    case Operator::Multiply:
      return a * b;
    case Operator::Divide:
      return b == 0 ? std::nullopt : std::optional(a / b);
    case Operator::Remainder:
      return b == 0 ? std::nullopt : std::optional(a % b);
    case Operator::ShiftLeft:
      return b < 0 ? std::nullopt : std::optional(a * (int64_t(1) << b));
    case Operator::ShiftRight:
      return b < 0 ? std::nullopt : std::optional(a >> b);
    case Operator::BitAnd:
      return a & b;
    case Operator::BitOr:
      return a | b;
    case Operator::BitXor:
      return a ^ b;
    default:
      return a < b;
    }
  };
  for (Operator op : operators)
    for (int64_t al = -5; al <= 5; ++al)
      for (int64_t am = al; am <= 5; am += 2)
        for (int64_t bl = -4; bl <= 6; ++bl)
          for (int64_t bm = bl; bm <= 6; bm += 3) {
            const Range range = evaluated(op, {al, am}, {bl, bm});
            for (int64_t a = al; a <= am; ++a)
              for (int64_t b = bl; b <= bm; ++b)
                if (auto value = result(op, a, b)) {
                  ASSERT_TRUE(range.has(*value)) << operatorText(op) << " of " << a << " and " << b;
                }
          }
}

TEST(Range, WhatMayLeave64BitsIsNotKnown) {
  const Range all, positive{1, INT64_MAX};
  EXPECT_FALSE(evaluated(Operator::Add, positive, {1, 1}).isKnown());
  EXPECT_FALSE(evaluated(Operator::Multiply, positive, {2, 2}).isKnown());
  EXPECT_FALSE(evaluated(Operator::Divide, all, {-1, -1}).isKnown());
  EXPECT_FALSE(negated(all).isKnown());
  EXPECT_EQ(evaluated(Operator::Remainder, all, {10, 10}).most, 9);
  EXPECT_TRUE(Range::of(Scalar::UnsignedChar).within(0, 255));
  EXPECT_TRUE((Range{-128, 127}.fits(Scalar::Char)));
  EXPECT_FALSE((Range{-129, 0}.fits(Scalar::Char)));
}

} // namespace
} // namespace strata::cfamily
