// Moves against a naive copy, element by element.
#include "runtime/core/transfer.h"

#include "runtime/core/testing.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace strata::runtime {
namespace {

using Moves = WithThreads;
STRATA_WITH_THREADS(Moves);

/// One side of a move: strides for a random order of dimensions with random gaps, some running backwards.
struct Side {
  std::vector<int64_t> strides;
  int64_t first = 0; // element of index (0, 0, …)
  int64_t size = 1;  // elements in all
};

Side randomSide(const std::vector<int64_t>& extents, std::mt19937& random) {
  Side side;
  std::vector<size_t> order(extents.size());
  std::iota(order.begin(), order.end(), size_t(0));
  if (random() % 2)
    std::shuffle(order.begin(), order.end(), random);
  side.strides.resize(extents.size());
  const bool gaps = random() % 2;
  int64_t step = gaps && random() % 2 ? 2 : 1;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    side.strides[*at] = step;
    step *= extents[*at] + (gaps ? static_cast<int64_t>(random() % 3) : 0);
    if (random() % 8 == 0) {
      side.first += side.strides[*at] * (extents[*at] - 1);
      side.strides[*at] = -side.strides[*at];
    }
  }
  side.size = std::max<int64_t>(step, 1);
  return side;
}

void copyNaively(char* to, const Side& destination, const char* from, const Side& source,
                 const std::vector<int64_t>& extents, int64_t bytes, size_t dimension = 0) {
  if (dimension == extents.size()) {
    std::copy(from, from + bytes, to);
    return;
  }
  for (int64_t i = 0; i < extents[dimension]; ++i)
    copyNaively(to + i * destination.strides[dimension] * bytes, destination,
                from + i * source.strides[dimension] * bytes, source, extents, bytes, dimension + 1);
}

TEST_P(Moves, RandomShapesEqualANaiveCopy) {
  std::mt19937 random(11);
  const int64_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 24};
  for (int round = 0; round < 1500; ++round) {
    std::vector<int64_t> extents(random() % 5);
    for (int64_t& extent : extents)
      extent = static_cast<int64_t>(random() % (extents.size() > 2 ? 9 : 60)) + (random() % 20 ? 1 : 0);
    const int64_t bytes = sizes[random() % std::size(sizes)];
    const Side destination = randomSide(extents, random);
    const Side source = randomSide(extents, random);
    std::vector<char> from(static_cast<size_t>(source.size * bytes));
    for (char& c : from)
      c = static_cast<char>(random());
    std::vector<char> to(static_cast<size_t>(destination.size * bytes), 'x');
    std::vector<char> expected = to;
    copyNaively(expected.data() + destination.first * bytes, destination, from.data() + source.first * bytes, source,
                extents, bytes);
    const auto rank = static_cast<int32_t>(extents.size());
    if (round % 2)
      strata_move(to.data() + destination.first * bytes, destination.strides.data(), from.data() + source.first * bytes,
                  source.strides.data(), extents.data(), rank, bytes);
    else
      wait(strata_move_start(to.data() + destination.first * bytes, destination.strides.data(),
                             from.data() + source.first * bytes, source.strides.data(), extents.data(), rank, bytes,
                             nullptr, 0));
    ASSERT_EQ(to, expected) << "round " << round;
  }
}

TEST_P(Moves, FollowEachOtherByTokens) {
  constexpr int64_t n = 300;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  std::iota(a.begin(), a.end(), 1.0f);
  const int64_t rows[] = {n, 1}, columns[] = {1, n}, extents[] = {n, n};
  StrataToken* first = strata_move_start(b.data(), rows, a.data(), columns, extents, 2, 4, nullptr, 0);
  StrataToken* second = strata_move_start(c.data(), rows, b.data(), columns, extents, 2, 4, &first, 1);
  wait({first, second});
  EXPECT_EQ(c, a);
}

TEST(Move, DenseDimensionsFoldIntoOne) {
  const int64_t strides[] = {60, 12, 1}, extents[] = {4, 5, 12};
  const MovePlan plan = planMove(strides, strides, extents, 3, 4);
  EXPECT_TRUE(plan.dimensions.empty());
  EXPECT_EQ(plan.elementBytes, 4 * 5 * 12 * 4);
}

TEST(Move, NothingIsMovedForAnEmptyExtent) {
  const int64_t strides[] = {1, 1}, extents[] = {0, 5};
  strata_move(nullptr, strides, nullptr, strides, extents, 2, 4);
}

} // namespace
} // namespace strata::runtime
