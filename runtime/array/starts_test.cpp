// Starts against all integer points near them, depths against the values counted one by one.
#include "runtime/array/by_day_testing.h"
#include "runtime/array/instantiate_test_support.h"
#include "runtime/array/verify_tiling.h"

#include <algorithm>
#include <random>

namespace strata::array::test {
namespace {

int64_t waitOf(const Tiling& tiling, const Arrival& arrival, int64_t interval) {
  int64_t iterations = 0;
  for (size_t l = 0; l < arrival.distance.size(); ++l)
    iterations += (arrival.distance[l] - tiling.tile[l] * arrival.crossing[l]) * tiling.inner[l];
  return iterations * interval + arrival.slack;
}

struct RandomArrivals {
  explicit RandomArrivals(unsigned seed) : random(seed) {
    const auto loops = static_cast<size_t>(number(2, 3));
    symbolic = Builder(loops, {}, number(1, 3)).symbolic;
    symbolic.rowLoop = static_cast<uint32_t>(number(0, 1));
    symbolic.columnLoop = 1 - symbolic.rowLoop;
    tiling.rowLoop = symbolic.rowLoop;
    tiling.columnLoop = symbolic.columnLoop;
    tiling.rows = number(1, 4);
    tiling.columns = number(1, 4);
    for (size_t l = 0; l < loops; ++l)
      tiling.tile.push_back(number(2, 4));
    for (size_t l = 0; l < loops; ++l)
      tiling.count.push_back(tiling.tile[l] * tiling.tiles(l));
    tiling.inner.assign(loops, 1);
    for (size_t l = loops - 1; l-- > 0;)
      tiling.inner[l] = tiling.inner[l + 1] * tiling.tile[l + 1];
  }

  int64_t number(int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(random); }

  Arrival arrival() {
    Arrival result;
    for (size_t l = 0; l < tiling.tile.size(); ++l) {
      result.distance.push_back(number(-1, 2));
      const bool canCross = (l == symbolic.rowLoop || l == symbolic.columnLoop) && number(0, 1) == 0;
      result.crossing.push_back(!canCross || result.distance[l] == 0 ? 0 : result.distance[l] < 0 ? -1 : 1);
    }
    result.slack = number(-4, 3);
    return result;
  }

  std::mt19937 random;
  Symbolic symbolic;
  Tiling tiling;
};

TEST(Starts, NoOthersLetTheLastElementStartSooner) {
  size_t circles = 0, found = 0;
  for (unsigned seed = 0; seed < byDay(60, 250); ++seed) {
    SCOPED_TRACE(seed);
    RandomArrivals all(seed);
    const Tiling& tiling = all.tiling;
    for (int64_t i = all.number(1, 4); i > 0; --i) {
      const Arrival arrival = all.arrival();
      if (std::ranges::any_of(arrival.crossing, [](int64_t each) { return each != 0; }))
        all.symbolic.arrivals.push_back(arrival);
    }
    machine::ProcessorArray array = testArray(4, 4);
    array.control.hop = static_cast<uint64_t>(all.number(1, 3));
    const auto corner = static_cast<machine::Corner>(all.number(0, 3));
    const int64_t hop = static_cast<int64_t>(array.control.hop), height = tiling.rows - 1, width = tiling.columns - 1;
    const bool isSouth = corner == machine::Corner::SouthWest || corner == machine::Corner::SouthEast;
    const bool isEast = corner == machine::Corner::NorthEast || corner == machine::Corner::SouthEast;
    /// The start of the last element and then the distances between starts; nothing where a value comes too late.
    const auto cost = [&](int64_t row, int64_t column, int64_t& first) -> std::optional<std::pair<int64_t, int64_t>> {
      for (const Arrival& arrival : all.symbolic.arrivals) {
        const int64_t r = arrival.crossing[tiling.rowLoop], c = arrival.crossing[tiling.columnLoop];
        bool hasPair = !((r != 0 && height == 0) || (c != 0 && width == 0)); // of iterations so far apart
        for (size_t l = 0; l < arrival.distance.size(); ++l)
          hasPair =
              hasPair && std::abs(arrival.distance[l]) < (arrival.crossing[l] == 0 ? tiling.tile[l] : tiling.count[l]);
        if (!hasPair)
          continue;
        if (row * r + column * c + waitOf(tiling, arrival, all.symbolic.interval) < 0)
          return std::nullopt;
      }
      first = 0;
      int64_t last = INT64_MIN;
      for (int64_t r = 0; r <= height; ++r)
        for (int64_t c = 0; c <= width; ++c) {
          const int64_t hops = (isSouth ? height - r : r) + (isEast ? width - c : c);
          first = std::max(first, std::max<int64_t>(0, hops * hop) - r * row - c * column);
          last = std::max(last, r * row + c * column);
        }
      return std::pair(first + last, std::abs(row) * height + std::abs(column) * width);
    };
    std::optional<std::pair<int64_t, int64_t>> best;
    for (int64_t row = -150; row <= 150; ++row)
      for (int64_t column = -150; column <= 150; ++column) {
        int64_t first = 0;
        const auto here = cost(row, column, first);
        if (here && (!best || *here < *best))
          best = here;
      }
    const std::variant<Starts, InstantiationError> made = makeStarts(all.symbolic, array, tiling, corner);
    if (const auto* error = std::get_if<InstantiationError>(&made)) {
      ++circles;
      EXPECT_FALSE(best);
      EXPECT_NE(error->message.find("wait for each other in a circle"), std::string::npos) << error->message;
      EXPECT_NE(error->help.find("skew"), std::string::npos);
      continue;
    }
    ++found;
    const Starts& starts = std::get<Starts>(made);
    int64_t first = 0;
    EXPECT_EQ(cost(starts.row, starts.column, first), best);
    EXPECT_EQ(starts.first, first);
    EXPECT_EQ(verify(all.symbolic, array, tiling, corner, starts), "");
  }
  EXPECT_GT(circles, byDay(0, 2));
  EXPECT_GT(found, byDay(36, 150));
}

TEST(Starts, FifosHoldWhatIsWrittenAndNotYetRead) {
  int tight = 0, all = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    RandomArrivals random(seed);
    Tiling& tiling = random.tiling;
    tiling.rows = tiling.columns = 3;
    for (size_t l = 0; l < tiling.tile.size(); ++l)
      tiling.count[l] = tiling.tile[l] * tiling.tiles(l);
    const Arrival arrival = random.arrival();
    const bool isInput = std::ranges::any_of(arrival.crossing, [](int64_t each) { return each != 0; });
    random.symbolic.fifos = {{{isInput ? Register::Kind::Input : Register::Kind::Feedback, 2}, arrival}};
    const Starts starts = {0, random.number(0, 60), random.number(0, 60)};
    const int64_t interval = random.symbolic.interval;
    const int64_t wait = waitOf(tiling, arrival, interval) + starts.row * arrival.crossing[tiling.rowLoop] +
                         starts.column * arrival.crossing[tiling.columnLoop];
    if (wait < 0)
      continue;
    // Reads, each as a cycle; the value has been there for `wait` cycles.
    std::vector<int64_t> reads;
    const int64_t iterations = tiling.tile[0] * tiling.inner[0];
    for (int64_t n = 0; n < iterations; ++n) {
      bool isFrom = true;
      for (size_t l = 0; l < tiling.tile.size(); ++l) {
        const int64_t at = n / tiling.inner[l] % tiling.tile[l] - arrival.distance[l];
        isFrom = isFrom && at + arrival.crossing[l] * tiling.tile[l] >= 0 &&
                 at + arrival.crossing[l] * tiling.tile[l] < tiling.tile[l];
      }
      if (isFrom)
        reads.push_back(n * interval);
    }
    uint64_t most = 0;
    for (const int64_t now : reads)
      most = std::max(most, static_cast<uint64_t>(std::ranges::count_if(
                                reads, [&](int64_t read) { return read >= now && read - wait <= now; })));
    Configuration configuration;
    ASSERT_FALSE(setDepths(random.symbolic, testArray(4, 4), tiling, starts, configuration));
    const uint64_t depth = (isInput ? configuration.inputDepths : configuration.feedbackDepths)[2];
    EXPECT_GE(depth, most);
    ++all;
    tight += depth <= most ? 1 : 0;
  }
  EXPECT_GT(all, 300);
  EXPECT_GT(4 * tight, all);
}

} // namespace
} // namespace strata::array::test
