// Sets against the same questions asked of every point, one after the other.
#include "runtime/array/diagrams.h"

#include <gtest/gtest.h>

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

} // namespace
} // namespace strata::array
