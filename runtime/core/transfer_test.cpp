// Moves against a naive copy, element by element.
#include "runtime/core/transfer.h"

#include "runtime/core/engine.h"
#include "runtime/core/testing.h"
#include "runtime/core/token.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <string>
#include <thread>

namespace strata::runtime {
namespace {

using Moves = WithThreads;
STRATA_WITH_THREADS(Moves);

/// One side of a move: strides for a random order of dimensions with random gaps, some running backwards.
struct MoveSide {
  std::vector<int64_t> strides;
  int64_t first = 0; // element of index (0, 0, …)
  int64_t size = 1;  // elements in all
};

MoveSide randomMoveSide(const std::vector<int64_t>& extents, std::mt19937& random) {
  MoveSide side;
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

void copyNaively(char* to, const MoveSide& destination, const char* from, const MoveSide& source,
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
    const MoveSide destination = randomMoveSide(extents, random);
    const MoveSide source = randomMoveSide(extents, random);
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

constexpr int64_t large = 1 << 16; // elements of 4 bytes: more than what is done at once

StrataToken* startCopy(std::vector<float>& to, const std::vector<float>& from,
                       const std::vector<StrataToken*>& after = {}) {
  const int64_t stride = 1, extent = static_cast<int64_t>(from.size());
  return strata_move_start(to.data(), &stride, from.data(), &stride, &extent, 1, 4, after.data(),
                           static_cast<int32_t>(after.size()));
}

TEST_P(Moves, GoOnBesideTheirStarter) {
  std::vector<float> a(large), b(large), c(large);
  for (int round = 0; round < 200; ++round) {
    std::iota(a.begin(), a.end(), float(round));
    StrataToken* first = startCopy(b, a);
    ASSERT_NE(first, nullptr);
    std::atomic<int64_t> sum{0};
    spmd(4, false, [&](int64_t i) { sum += i; });
    StrataToken* second = startCopy(c, b, {first});
    strata_token_retain(second);
    strata_token_release(first); // what comes after it does not need its holder
    wait(second);
    strata_wait(second);
    strata_token_release(second);
    ASSERT_EQ(c, a) << "round " << round;
  }
}

TEST_P(Moves, FromManyProcessorsAtOnce) {
  constexpr int64_t parts = 20, rounds = 20;
  std::vector<std::vector<float>> from(parts), to(parts);
  spmd(parts, false, [&](int64_t i) {
    from[i].assign(large, float(i));
    to[i].assign(large, 0);
    for (int64_t round = 0; round < rounds; ++round) {
      StrataToken* out = startCopy(to[i], from[i]);
      StrataToken* task = spawn([&to, i] { to[i][0] += 1; }, {out}); // begun by whoever ends the move
      wait({out, task});
      ASSERT_EQ(to[i][0], float(i) + 1);
      ASSERT_EQ(to[i].back(), float(i));
    }
  });
}

TEST_P(Moves, ThatNobodyWaitsForEndAllTheSame) {
  std::vector<float> a(large, 1), b(large);
  StrataToken* move = startCopy(b, a);
  while (!allDone(&move, 1))
    std::this_thread::yield();
  strata_token_release(move);
  EXPECT_EQ(b, a);
}

/// Ends its token from a thread of its own, after a while.
void completeLater(StrataToken* token) {
  std::thread([token] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++*static_cast<int*>(token->work);
    complete(token);
  }).detach();
}

TEST_P(Moves, AnotherEngineEndsTokensToo) {
  const Role nobody;
  for (int round = 0; round < 20; ++round) {
    int done = 0;
    StrataToken* first = startBeside(completeLater, nullptr, &done, nobody, nullptr, 0);
    StrataToken* second = startBeside(completeLater, nullptr, &done, nobody, &first, 1);
    int seen = 0;
    // The whole program waits, on fibres and on the caller's own stack: no deadlock.
    StrataToken* task = spawn([&] { seen = done; }, {second});
    wait({task, first, second});
    ASSERT_EQ(seen, 2);
  }
}

TEST_P(Moves, AStandstillBehindThemIsFound) {
  EXPECT_EXIT(
      {
        int done = 0;
        StrataStream* stream = strata_stream_create(4, 1, "never");
        StrataToken* move = startBeside(completeLater, nullptr, &done, {}, nullptr, 0);
        float element = 0;
        strata_stream_pop(stream, &element); // nothing runs once the engine has ended
        wait(move);
      },
      ::testing::ExitedWithCode(1), "runtime-deadlock");
}

TEST_P(Moves, AreTracedOnRowsOfTheirOwn) {
  static const StrataProcessor processors[] = {processorOf("pe", 4, 2)};
  static const StrataMemory memories[] = {memoryOf("main", 0, 1, 0, 64), memoryOf("ls", 1000, 4, 1, 64)};
  static const StrataLink links[] = {{"ring", 50, 96, 1, 4}, {"bus", 200, 8, 1, 1}};
  static const StrataMachine machine{"tiles", memories, processors, 2, 1, nullptr, links, 0, 2, 0, {}};
  static const uint32_t route[] = {1, 0};
  static const StrataWay ofB{"b", 0, 1, route, 2}, ofC{"c", 0, 1, route, 1}, ofD{"d", 1, 0, nullptr, 0},
      ofE{"e", strata_none, 1, nullptr, 0};
  clearTrace();
  strata_machine(&machine);
  spmd(
      4, true,
      [&](int64_t) {
        std::vector<float> a(large, 1), b(large), c(large);
        const int64_t stride = 1, extent = static_cast<int64_t>(large), few = 77;
        const auto start = [&](const StrataWay& way, std::vector<float>& to) {
          return strata_move_start_along(&way, to.data(), &stride, a.data(), &stride, &extent, 1, 4, nullptr, 0);
        };
        StrataToken* first = start(ofB, b);
        StrataToken* second = start(ofC, c);
        strata_trace_wait_begin("wait for b");
        strata_wait(first);
        strata_trace_end();
        wait(second);
        strata_token_release(first);
        char from[77] = "seventy-seven", to[77] = "";
        strata_move_along(&ofD, to, &stride, from, &stride, &few, 1, 1);
        EXPECT_STREQ(to, from);
        strata_window_move_along(&ofE, from, &stride, to, &stride, &few, 1, 1);
        wait(strata_window_move_start_along(&ofE, from, &stride, to, &stride, &few, 1, 1, nullptr, 0));
        EXPECT_EQ(b[large - 1], 1);
        EXPECT_EQ(c[large - 1], 1);
      },
      0);
  const std::string json = traceJson();
  const auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = json.find(part); at != std::string::npos; at = json.find(part, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("\"args\":{\"name\":\"pe moves\"}"), 1u) << json;
  EXPECT_EQ(count("\"cat\":\"move\",\"name\":\"b\""), 4u) << json;
  EXPECT_EQ(count("\"args\":{\"bytes\":262144,\"way\":\"main -> ls\""), 8u) << json;
  EXPECT_EQ(count("\"links\":\"bus, ring\""), 4u) << json;
  EXPECT_EQ(count("\"links\":\"bus\""), 4u) << json;
  EXPECT_EQ(count("\"cat\":\"wait\",\"name\":\"wait for b\""), 4u) << json;
  EXPECT_EQ(count("\"args\":{\"bytes\":77,\"way\":\"ls -> main\""), 4u) << json;
  EXPECT_EQ(count("\"cat\":\"wait\",\"name\":\"d\""), 4u) << json;
  EXPECT_EQ(count("\"args\":{\"bytes\":77,\"way\":\" -> ls\""), 8u) << json;
  EXPECT_EQ(count("\"name\":\"pe 3, move 0\""), 1u) << json;
  clearTrace();
  strata_machine(nullptr);
}

TEST(Move, AsManyEnginesAsTheMachineHasMovesWithinReason) {
  const StrataProcessor processors[] = {processorOf("control", 1, 0), processorOf("pe", 8, 16)};
  const StrataMachine none = machineOf("none", nullptr, processors, 0, 1),
                      some = machineOf("some", nullptr, processors, 0, 2);
  EXPECT_EQ(enginesFor(nullptr), 1u);
  EXPECT_EQ(enginesFor(&none), 1u);
  EXPECT_EQ(enginesFor(&some), std::clamp(std::thread::hardware_concurrency() / 2, 1u, 128u));
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
