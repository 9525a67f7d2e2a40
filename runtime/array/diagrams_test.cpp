// Sets against the same questions asked of every point, one after the other.
#include "runtime/array/diagrams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace strata::array {
namespace {

using Point = std::vector<int64_t>;

/// All points of a space, in lexicographic order.
std::vector<Point> points(const std::vector<int64_t>& extents) {
  std::vector<Point> result = {{}};
  for (const int64_t extent : extents) {
    std::vector<Point> longer;
    for (const Point& point : result)
      for (int64_t x = 0; x < extent; ++x) {
        longer.push_back(point);
        longer.back().push_back(x);
      }
    result = std::move(longer);
  }
  return result;
}

int64_t value(const Point& point, const Point& coefficients, int64_t constant) {
  for (size_t i = 0; i < point.size(); ++i)
    constant += coefficients[i] * point[i];
  return constant;
}

TEST(Diagrams, EqualSetsAreOneNode) {
  Diagrams diagrams({6, 4});
  const Range left[] = {{0, 3}, {0, 4}}, right[] = {{3, 9}, {-1, 4}};
  EXPECT_EQ(diagrams.unite(diagrams.box(left), diagrams.box(right)), diagrams.all());
  EXPECT_EQ(diagrams.intersect(diagrams.box(left), diagrams.box(right)), Diagrams::none);
  const int64_t coefficients[] = {-1, 0};
  EXPECT_EQ(diagrams.notNegative(coefficients, 2), diagrams.box(left));
}

TEST(Diagrams, SuccessorsCarryAndFallOffTheEnd) {
  Diagrams diagrams({2, 3});
  const Range last[] = {{0, 1}, {2, 3}}, next[] = {{1, 2}, {0, 1}};
  EXPECT_EQ(diagrams.successors(diagrams.box(last), 1), diagrams.box(next));
  EXPECT_EQ(diagrams.successors(diagrams.box(last), 4), Diagrams::none);
  EXPECT_EQ(diagrams.successors(diagrams.all(), 6), Diagrams::none);
  EXPECT_EQ(diagrams.first(diagrams.successors(diagrams.all(), 5)), (Point{1, 2}));
}

TEST(Diagrams, WithoutDimensionsThereIsOnePoint) {
  Diagrams diagrams(std::vector<int64_t>{});
  EXPECT_EQ(diagrams.size(diagrams.all()), 1);
  EXPECT_EQ(diagrams.notNegative({}, -1), Diagrams::none);
  EXPECT_EQ(diagrams.divisible({}, 4, 2), diagrams.all());
}

TEST(Diagrams, SizesOfLoopsDoNotMatterToBoxes) {
  Diagrams diagrams({1'000'000, 1'000'000, 1'000});
  const Range inner[] = {{1, 999'999}, {0, 1'000'000}, {5, 6}};
  const Diagrams::Set moved = diagrams.successors(diagrams.box(inner), 123'456'789);
  EXPECT_EQ(diagrams.size(moved), 999'998 * int64_t{1'000'000});
  EXPECT_LT(diagrams.nodes(), 60u);
}

TEST(Diagrams, SizesOfLoopsDoNotMatterToConditionsOnOneCoordinate) {
  constexpr int64_t many = 1'000'000'000;
  Diagrams diagrams({many, many});
  const int64_t down[] = {-3, 0}, up[] = {0, 2}, none[] = {0, 7};
  const Range firsts[] = {{0, 34}, {0, many}}, lasts[] = {{0, many}, {51, many}}, seventh[] = {{0, many}, {7, 8}};
  EXPECT_EQ(diagrams.notNegative(down, 100), diagrams.box(firsts));
  EXPECT_EQ(diagrams.notNegative(up, -101), diagrams.box(lasts));
  EXPECT_EQ(diagrams.divisible(none, -49, 0), diagrams.box(seventh));
  EXPECT_EQ(diagrams.divisible(none, -50, 0), Diagrams::none);
  EXPECT_EQ(diagrams.divisible(none, 14, 7), diagrams.all());
  EXPECT_LT(diagrams.nodes(), 20u);
}

TEST(Diagrams, TrianglesTakeANodeForEachRow) {
  constexpr int64_t rows = 2000;
  Diagrams diagrams({rows, rows});
  const int64_t below[] = {1, -1};
  const Diagrams::Set triangle = diagrams.notNegative(below, 0);
  EXPECT_EQ(diagrams.size(triangle), rows * (rows + 1) / 2);
  const Diagrams::Set next = diagrams.successors(triangle, 1);
  EXPECT_EQ(diagrams.size(next), rows * (rows + 1) / 2 - 1); // the last point has none
  const int64_t corner[] = {1, 0}, wrapped[] = {rows - 1, 0};
  EXPECT_FALSE(diagrams.contains(next, corner)); // after (0, 1999), which is outside of the triangle
  EXPECT_FALSE(diagrams.contains(next, wrapped));
  EXPECT_LT(diagrams.nodes(), static_cast<size_t>(4 * rows));
}

TEST(Diagrams, RandomSetsAgreeWithTheirPoints) {
  std::mt19937 random(7); // NOLINT(cert-msc51-cpp): the same sets in every run
  const auto number = [&](int least, int most) { return std::uniform_int_distribution<int64_t>(least, most)(random); };
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> extents(static_cast<size_t>(number(1, 3)));
    for (int64_t& extent : extents)
      extent = number(1, 6);
    Diagrams diagrams(extents);
    const std::vector<Point> space = points(extents);
    Diagrams::Set set = diagrams.all();
    std::vector<bool> expected(space.size(), true);
    for (int step = 0; step < 5; ++step) {
      Point coefficients(extents.size());
      for (int64_t& each : coefficients)
        each = number(-3, 3);
      const int64_t constant = number(-9, 9), kind = number(0, 2), modulus = number(2, 4);
      const Diagrams::Set other = kind == 0 ? diagrams.notNegative(coefficients, constant)
                                            : diagrams.divisible(coefficients, constant, kind == 1 ? 0 : modulus);
      const int64_t operation = number(0, 3), steps = number(0, 9);
      std::vector<bool> before = expected;
      for (size_t i = 0; i < space.size(); ++i) {
        const int64_t at = value(space[i], coefficients, constant);
        const bool isIn = kind == 0 ? at >= 0 : kind == 1 ? at == 0 : at % modulus == 0;
        if (operation == 3)
          expected[i] = i >= static_cast<size_t>(steps) && before[i - static_cast<size_t>(steps)];
        else
          expected[i] = operation == 0 ? before[i] && isIn : operation == 1 ? before[i] || isIn : before[i] && !isIn;
      }
      set = operation == 0   ? diagrams.intersect(set, other)
            : operation == 1 ? diagrams.unite(set, other)
            : operation == 2 ? diagrams.subtract(set, other)
                             : diagrams.successors(set, steps);
      int64_t size = 0;
      for (size_t i = 0; i < space.size(); ++i) {
        ASSERT_EQ(diagrams.contains(set, space[i]), expected[i]);
        size += expected[i] ? 1 : 0;
      }
      ASSERT_EQ(diagrams.size(set), size);
      Diagrams::Set again = Diagrams::none;
      diagrams.boxes(set, [&](std::span<const Range> box) {
        const Diagrams::Set piece = diagrams.box(box);
        EXPECT_EQ(diagrams.intersect(again, piece), Diagrams::none);
        again = diagrams.unite(again, piece);
      });
      ASSERT_EQ(again, set);
    }
  }
}

TEST(Diagrams, RandomFunctionsAgreeWithTheirPoints) {
  std::mt19937 random(11); // NOLINT(cert-msc51-cpp): the same functions in every run
  const auto number = [&](int least, int most) { return std::uniform_int_distribution<int64_t>(least, most)(random); };
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> extents(static_cast<size_t>(number(1, 3)));
    for (int64_t& extent : extents)
      extent = number(1, 5);
    Diagrams diagrams(extents), other(extents);
    const std::vector<Point> space = points(extents);
    std::vector<Diagrams::Set> parts;
    for (int i = 0; i < 3; ++i) {
      Point coefficients(extents.size());
      for (int64_t& each : coefficients)
        each = number(-2, 2);
      parts.push_back(number(0, 1) == 0 ? diagrams.notNegative(coefficients, number(-4, 4))
                                        : diagrams.divisible(coefficients, number(-4, 4), number(2, 3)));
    }
    // Numbers of which different parts may have the same.
    const auto numbered = [](std::span<const uint32_t> values) { return values[0] * 3 + values[1] * 2 + values[2]; };
    const Diagrams::Set function = diagrams.join(parts, numbered), next = diagrams.following(function);
    const Diagrams::Set both[] = {function, next};
    const Diagrams::Set pair = diagrams.join(both, [](auto values) { return values[0] * 10 + values[1]; });
    std::vector<uint32_t> expected;
    for (const Point& point : space) {
      const uint32_t values[] = {diagrams.contains(parts[0], point), diagrams.contains(parts[1], point),
                                 diagrams.contains(parts[2], point)};
      expected.push_back(numbered(values));
    }
    std::vector<uint32_t> found(space.size(), 0);
    for (const auto& [value, set] : diagrams.values(pair)) {
      EXPECT_NE(value, 0u);
      EXPECT_EQ(other.size(other.copy(diagrams, set)), diagrams.size(set));
      for (size_t i = 0; i < space.size(); ++i) {
        ASSERT_EQ(other.contains(other.copy(diagrams, set), space[i]), diagrams.contains(set, space[i]));
        if (diagrams.contains(set, space[i])) {
          EXPECT_EQ(found[i], 0u) << "two values";
          found[i] = value;
        }
      }
    }
    for (size_t i = 0; i < space.size(); ++i)
      ASSERT_EQ(found[i], expected[i] * 10 + (i + 1 < space.size() ? expected[i + 1] : 0));
    const auto last = std::ranges::find_if(expected.rbegin(), expected.rend(), [](uint32_t each) { return each != 0; });
    ASSERT_EQ(diagrams.last(function).has_value(), last != expected.rend());
    if (last != expected.rend()) {
      const auto at = static_cast<size_t>(expected.rend() - last) - 1;
      ASSERT_EQ(*diagrams.last(function), space[at]);
      const Diagrams::Set before = diagrams.upTo(space[at]);
      EXPECT_EQ(diagrams.size(before), static_cast<int64_t>(at) + 1);
      EXPECT_EQ(*diagrams.last(before), space[at]);
      EXPECT_EQ(diagrams.following(before), at == 0 ? Diagrams::none : diagrams.upTo(space[at - 1]));
    }
  }
}

TEST(Diagrams, FunctionsOfLargeLoopsTakeFewNodes) {
  constexpr int64_t many = 1'000'000'000;
  Diagrams diagrams({many, many});
  const Range inner[] = {{1, many - 1}, {5, many - 7}}, outer[] = {{0, 3}, {0, many}};
  const Diagrams::Set parts[] = {diagrams.box(inner), diagrams.box(outer)};
  const Diagrams::Set function = diagrams.join(parts, [](auto values) { return values[0] + 2 * values[1]; });
  const Diagrams::Set both[] = {function, diagrams.following(function)};
  const Diagrams::Set pair = diagrams.join(both, [](auto values) { return values[0] * 4 + values[1]; });
  int64_t size = 0;
  for (const auto& [value, set] : diagrams.values(pair))
    size += diagrams.size(set);
  EXPECT_EQ(size, 3 * many + (many - 4) * (many - 12) + (many - 4)); // and those before the inner ones
  EXPECT_LT(diagrams.nodes(), 80u);
}

TEST(Diagrams, ConditionsThatMakeTooManyRangesAreRefused) {
  constexpr int64_t large = 1'000'000'000;
  Diagrams sets({large, large, 4});
  const std::vector<int64_t> sum = {1, 1, 0}, first = {1, 0, 0};
  EXPECT_THROW(sets.notNegative(sum, -large), TooManyRanges);
  Diagrams others({large, large, 4});
  EXPECT_THROW(others.divisible(first, 0, 100'000'000), TooManyRanges);
  // Those on one loop take no time.
  EXPECT_EQ(others.size(others.notNegative(first, -7)), (large - 7) * large * 4);
}

} // namespace
} // namespace strata::array
