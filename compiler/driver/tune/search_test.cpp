// The search on costs that are known: whether it comes to the least, and what it tries on the way.
#include "compiler/driver/tune/search.h"

#include <gtest/gtest.h>

#include <cmath>

namespace strata::driver {
namespace {

struct Tried {
  SearchResult result;
  std::vector<Point> points;
};

Tried tryAll(const SearchSpace& space, const Evaluate& cost, size_t most = 100000) {
  Tried tried;
  const Evaluate counted = [&](const Point& point) {
    EXPECT_EQ(point.size(), space.counts.size());
    for (size_t choice = 0; choice < point.size(); ++choice)
      EXPECT_LT(point[choice], space.counts[choice]);
    EXPECT_EQ(std::count(tried.points.begin(), tried.points.end(), point), 0) << "tried twice";
    tried.points.push_back(point);
    return cost(point);
  };
  tried.result = search(space, counted, [&] { return tried.points.size() >= most; });
  return tried;
}

double square(double value) {
  return value * value;
}

TEST(Search, GoesDownhillInAFewSteps) {
  const SearchSpace space{{100, 100}, {0, 99}};
  const auto cost = [](const Point& point) {
    return std::optional(1 + square(static_cast<double>(point[0]) - 70) + square(static_cast<double>(point[1]) - 20));
  };
  const Tried tried = tryAll(space, cost, 80);
  EXPECT_EQ(tried.result.best, (Point{70, 20}));
  EXPECT_EQ(tried.result.cost, 1);
  EXPECT_FALSE(tried.result.isExhausted);
}

TEST(Search, MovesTwoAtOnceWhereTheirProductIsBounded) {
  // Only where both agree to a step is it cheap; larger is better until the product is 64.
  const auto cost = [](const Point& point) -> std::optional<double> {
    const double rows = std::exp2(point[0]), columns = std::exp2(point[1]);
    if (rows * columns > 64)
      return std::nullopt;
    return 1000 / (rows * columns) + 100 / std::min(rows, columns);
  };
  const Tried tried = tryAll({{12, 12}, {0, 6}}, cost, 60);
  EXPECT_EQ(tried.result.best, (Point{3, 3}));
}

TEST(Search, LooksBehindWhatIsRefused) {
  // Multiples of 3 alone are accepted.
  const auto cost = [](const Point& point) -> std::optional<double> {
    if (point[0] % 3 != 0)
      return std::nullopt;
    return 100 - static_cast<double>(point[0]);
  };
  EXPECT_EQ(tryAll({{40}, {0}}, cost).result.best, (Point{39}));
}

TEST(Search, BeginsAgainWhereAValleyIsNoneOfTheBest) {
  const auto cost = [](const Point& point) {
    const double at = static_cast<double>(point[0]);
    return std::optional(std::min(20 + square(at - 2), 10 + square(at - 30)));
  };
  EXPECT_EQ(tryAll({{40}, {0}}, cost).result.best, (Point{30}));
}

TEST(Search, EndsWhenAllIsTriedAndSaysSo) {
  const auto flat = [](const Point&) { return std::optional(1.0); };
  const Tried tried = tryAll({{3, 4}, {1, 1}}, flat);
  EXPECT_TRUE(tried.result.isExhausted);
  EXPECT_EQ(tried.points.size(), 12u);
  EXPECT_EQ(tried.result.best, (Point{1, 1})); // nothing was better
  EXPECT_TRUE(tryAll({{}, {}}, flat).result.isExhausted);
}

TEST(Search, TakesNoDifferenceForAGainThatIsWithinTheNoise) {
  const auto cost = [](const Point& point) { return std::optional(100.0 - static_cast<double>(point[0]) / 10); };
  EXPECT_EQ(tryAll({{10}, {5}}, cost).result.best, (Point{5}));
}

TEST(Search, EndsWhereAllElseIsRefused) {
  const auto cost = [](const Point& point) -> std::optional<double> {
    if (point != Point{500, 500})
      return std::nullopt;
    return 1.0;
  };
  const Tried tried = tryAll({{1000, 1000}, {500, 500}}, cost);
  EXPECT_EQ(tried.result.best, (Point{500, 500}));
  EXPECT_FALSE(tried.result.isExhausted);
  EXPECT_LT(tried.points.size(), 200u);
}

TEST(Search, IsOverAtOnce) {
  EXPECT_EQ(tryAll({{1000, 1000}, {500, 500}}, [](const Point&) { return std::optional(1.0); }, 7).points.size(), 7u);
}

TEST(Search, TriesTheSameInTheSameOrder) {
  const auto cost = [](const Point& point) {
    return std::optional(1 + std::fmod(static_cast<double>(point[0] * 7919 + point[1] * 104729), 97));
  };
  EXPECT_EQ(tryAll({{50, 50}, {3, 4}}, cost, 300).points, tryAll({{50, 50}, {3, 4}}, cost, 300).points);
}

} // namespace
} // namespace strata::driver
