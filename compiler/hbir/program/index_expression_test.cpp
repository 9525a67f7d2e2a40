// Index expressions and the sets made of them: folding, evaluation, substitution and text, against arithmetic on
// numbers.
#include "compiler/hbir/layout/polyhedra.h"
#include "compiler/hbir/program/program_testing.h"

#include <limits>

namespace strata::hbir {
namespace {

using Kind = IndexExpression::Kind;
constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();

IndexExpression make(Kind kind, IndexExpression a, IndexExpression b) {
  return IndexExpression::make(kind, std::move(a), std::move(b));
}

TEST(IndexExpression, FoldsConstantsAndNeutralElements) {
  const IndexExpression x = variable(0);
  EXPECT_EQ(number(2) + number(3) * number(4), number(14));
  EXPECT_EQ(x + number(0), x);
  EXPECT_EQ(number(0) + x, x);
  EXPECT_EQ(x - number(0), x);
  EXPECT_EQ(x - x, number(0));
  EXPECT_EQ(x * number(1), x);
  EXPECT_EQ(number(1) * x, x);
  EXPECT_EQ(x * number(0), number(0));
  EXPECT_EQ(x / number(1), x);
  EXPECT_EQ(x % number(1), number(0));
  EXPECT_EQ((x + number(1)) + number(2), x + number(3));
  EXPECT_EQ(make(Kind::Minimum, x, x), x);
}

TEST(IndexExpression, QuotientsMeetTheirRemainders) {
  const IndexExpression x = variable(0);
  EXPECT_EQ(x / number(4) * number(4) + x % number(4), x);
  EXPECT_EQ(x / number(3) / number(4), x / number(12));
  EXPECT_EQ((x / number(12) * number(4) + x / number(3) % number(4)) * number(3) + x % number(3), x);
  EXPECT_EQ(x % number(12) % number(4), x % number(4));
  EXPECT_EQ((x % number(4) % number(12)).kind, Kind::Modulo);
  EXPECT_FALSE(x / number(4) * number(4) + x % number(5) == x);
  EXPECT_EQ((x / number(most) / number(3)).evaluate({5}), 0);
}

TEST(IndexExpression, LeavesOverflowAndDivisionByZeroAlone) {
  EXPECT_FALSE((number(most) + number(1)).isConstant());
  EXPECT_FALSE((number(least) - number(1)).isConstant());
  EXPECT_FALSE((number(most) * number(2)).isConstant());
  EXPECT_FALSE((number(1) / number(0)).isConstant());
  EXPECT_FALSE((number(1) % number(0)).isConstant());
  EXPECT_FALSE((number(least) / number(-1)).isConstant());
  EXPECT_FALSE((number(most) + number(1)).evaluate({}));
  EXPECT_FALSE((number(1) / variable(0)).evaluate({0}));
  EXPECT_FALSE(variable(3).evaluate({0}));
}

TEST(IndexExpression, DivisionRoundsDown) {
  EXPECT_EQ((number(-7) / number(2)).value, -4);
  EXPECT_EQ((number(-7) % number(2)).value, 1);
  EXPECT_EQ((number(7) / number(-2)).value, -4);
  EXPECT_EQ((number(least) % number(-1)).value, 0);
}

TEST(IndexExpression, ReadsAsInC) {
  const IndexExpression x = variable(0), y = variable(1);
  const std::vector<std::string> names{"x", "y"};
  EXPECT_EQ((x * number(4) + y).text(names), "x*4 + y");
  EXPECT_EQ(((x + y) * number(2)).text(names), "(x + y)*2");
  EXPECT_EQ((x - (y - number(1))).text(names), "x - (y - 1)");
  EXPECT_EQ((x - (y + number(1))).text(names), "x - (y + 1)");
  EXPECT_EQ((x / (y * number(2))).text(names), "x/(y*2)");
  EXPECT_EQ((x % number(4) / number(2)).text(names), "x%4/2");
  EXPECT_EQ((x / (y / number(2))).text(names), "x/(y/2)");
  EXPECT_EQ((x + number(-3)).text(names), "x - 3");
  EXPECT_EQ((x * number(-3)).text(names), "x*(-3)");
  EXPECT_EQ(make(Kind::Minimum, x, y + number(1)).text(names), "min(x, y + 1)");
  EXPECT_EQ(variable(7).text(names), "v7");
}

TEST(IndexExpression, VariablesAreReplacedByExpressions) {
  const IndexExpression sum = variable(0) * number(4) + variable(1);
  EXPECT_EQ(sum.substitute({number(2), variable(5)}), variable(5) + number(8));
  EXPECT_EQ(sum.substitute({variable(1), variable(0)}).evaluate({3, 10}), 43);
}

/// Trees with values computed beside them, by other arithmetic.
class RandomExpressions : public ::testing::Test {
protected:
  std::mt19937 random{1};
  int64_t pick(int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(random); }

  struct Sample {
    IndexExpression expression;
    std::function<std::optional<__int128>(const std::vector<int64_t>&)> value;
  };
  Sample sample(int depth, bool affine) {
    if (depth == 0 || pick(0, 4) == 0) {
      if (pick(0, 1) == 0) {
        const int64_t value = pick(-5, 9);
        return {number(value), [=](const auto&) { return std::optional<__int128>(value); }};
      }
      const auto index = static_cast<unsigned>(pick(0, 2));
      return {variable(index), [=](const auto& values) { return std::optional<__int128>(values[index]); }};
    }
    const auto kind = static_cast<Kind>(pick(static_cast<int>(Kind::Add), static_cast<int>(Kind::Minimum)));
    const Sample a = sample(depth - 1, affine);
    Sample b = sample(depth - 1, affine);
    if (affine && kind != Kind::Add && kind != Kind::Subtract && kind != Kind::Minimum) {
      const int64_t value = pick(1, 6);
      b = {number(value), [=](const auto&) { return std::optional<__int128>(value); }};
    }
    const auto value = [=, left = a.value, right = b.value](const auto& values) -> std::optional<__int128> {
      const auto l = left(values), r = right(values);
      if (!l || !r || ((kind == Kind::Divide || kind == Kind::Modulo) && *r == 0))
        return std::nullopt;
      __int128 q = 0;
      if (kind == Kind::Divide || kind == Kind::Modulo) { // the greatest q with q*r on the near side of l
        q = *l / *r;
        while ((*l - q * *r) * (*r < 0 ? -1 : 1) < 0)
          --q;
      }
      switch (kind) {
      case Kind::Add:
        return *l + *r;
      case Kind::Subtract:
        return *l - *r;
      case Kind::Multiply:
        return *l * *r;
      case Kind::Divide:
        return q;
      case Kind::Modulo:
        return *l - q * *r;
      default:
        return *l < *r ? *l : *r;
      }
    };
    return {make(kind, a.expression, b.expression), value};
  }
};

TEST_F(RandomExpressions, EvaluateToWhatDirectArithmeticGives) {
  unsigned compared = 0;
  for (int round = 0; round < 4000; ++round) {
    const Sample made = sample(4, false);
    const std::vector<int64_t> values{pick(-3, 8), pick(-3, 8), pick(-3, 8)};
    const auto expected = made.value(values);
    if (!expected) // folding may have made a value of what a zero divisor spoiled
      continue;
    ++compared;
    const auto got = made.expression.evaluate(values);
    ASSERT_TRUE(got) << made.expression.text({"a", "b", "c"});
    ASSERT_EQ(static_cast<__int128>(*got), *expected) << made.expression.text({"a", "b", "c"});
    const std::vector<IndexExpression> constants{number(values[0]), number(values[1]), number(values[2])};
    ASSERT_EQ(made.expression.substitute(constants).evaluate({}), got);
  }
  EXPECT_GT(compared, 2000u);
}

TEST_F(RandomExpressions, LieWithinTheirRanges) {
  unsigned bounded = 0;
  for (int round = 0; round < 1500; ++round) {
    const Sample made = sample(3, false);
    const std::vector<int64_t> extents{pick(1, 4), pick(1, 4), pick(1, 4)};
    const auto range = rangeOf(made.expression, extents);
    if (!range)
      continue;
    ++bounded;
    forEach(extents, [&](const std::vector<int64_t>& values) {
      const auto value = made.expression.evaluate(values);
      ASSERT_TRUE(value);
      ASSERT_LE(range->least, *value);
      ASSERT_GE(range->most, *value);
    });
  }
  EXPECT_GT(bounded, 700u);
}

TEST_F(RandomExpressions, AreTheSameForIsl) {
  const Polyhedra polyhedra(100'000'000);
  unsigned compared = 0;
  for (int round = 0; round < 150; ++round) {
    const Sample made = sample(3, true);
    const std::vector<int64_t> extents{3, 2, 4};
    const auto map = polyhedra.map({made.expression}, polyhedra.box(extents));
    if (!map)
      continue;
    ++compared;
    forEach(extents, [&](const std::vector<int64_t>& v) {
      const auto at = map->intersect_domain(
          polyhedra.box(std::vector<Interval>{{v[0], v[0] + 1}, {v[1], v[1] + 1}, {v[2], v[2] + 1}}));
      ASSERT_EQ(Polyhedra::first(at.range()).at(0), made.expression.evaluate(v));
    });
  }
  EXPECT_GT(compared, 90u);
}

TEST(Polyhedra, GivesUpAfterItsSteps) {
  const Polyhedra polyhedra(10);
  EXPECT_THROW(
      {
        for (int i = 0; i < 100; ++i) {
          const isl::set a = polyhedra.box(std::vector<int64_t>{4, 4 + i});
          a.subtract(polyhedra.box(std::vector<int64_t>{3, 3})).is_empty();
        }
      },
      isl::exception);
}

TEST(Polyhedra, SaysNothingOfProductsOfVariables) {
  const Polyhedra polyhedra;
  EXPECT_FALSE(polyhedra.map({variable(0) * variable(1)}, polyhedra.box(std::vector<int64_t>{3, 3})));
  EXPECT_FALSE(polyhedra.map({number(3) / variable(1)}, polyhedra.box(std::vector<int64_t>{3, 3})));
  EXPECT_TRUE(polyhedra.map({number(3) * variable(1)}, polyhedra.box(std::vector<int64_t>{3, 3})));
}

TEST(RangeOf, RefusesWhatMayLeave64Bits) {
  EXPECT_FALSE(rangeOf(variable(0) * number(most), {3}));
  EXPECT_TRUE(rangeOf(variable(0) * number(most), {2}));
  EXPECT_FALSE(rangeOf(number(1) / (variable(0) - number(1)), {3}));
  EXPECT_FALSE(rangeOf(variable(0), {0}));
  EXPECT_EQ(rangeOf(variable(0) % number(8), {6}), (Interval{0, 5}));
  EXPECT_EQ(rangeOf(variable(0) % number(8), {16}), (Interval{0, 7}));
}

} // namespace
} // namespace strata::hbir
