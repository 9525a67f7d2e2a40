// Polls: instances that wait for each other all go on, at any number of threads, and a standstill is an error that
// names every loop, whatever circles the instances go in.
#include "runtime/core/poll.h"
#include "runtime/core/runtime.h"
#include "runtime/core/testing.h"

#include <gtest/gtest.h>

namespace strata::runtime {
namespace {

const StrataCheck loopA{"runtime-deadlock", "", "help", "p.hbir", 3, 7},
    loopB{"runtime-deadlock", "", "help", "p.hbir", 9, 1};

/// A loop that waits, with as many words of state as it needs.
struct Loop {
  const StrataCheck* place;
  int64_t instance;
  struct {
    StrataPoll poll;
    int64_t words[2];
  } record{};
  bool changed = true;

  void poll(int64_t a = 0, int64_t b = 0) {
    const int64_t state[2] = {a, b};
    strata_poll(&record.poll, place, instance, std::exchange(changed, false), state, 2);
  }
};

struct AtThreads : ::testing::TestWithParam<uint32_t> {
  void SetUp() override {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    setThreads(GetParam());
  }
  void TearDown() override { setThreads(0); }
};

TEST_P(AtThreads, AChainGoesOn) {
  constexpr int64_t count = 200;
  std::vector<std::atomic<int64_t>> flags(count);
  spmd(count, true, [&](int64_t i) {
    Loop loop{&loopA, i};
    while (i + 1 < count && flags[static_cast<size_t>(i) + 1] == 0)
      loop.poll();
    flags[static_cast<size_t>(i)] = 1;
  });
  EXPECT_EQ(flags[0], 1);
}

TEST_P(AtThreads, WhoCountsByItselfGoesOn) {
  std::atomic<int64_t> done{0};
  spmd(7, true, [&](int64_t i) {
    Loop loop{&loopA, i};
    for (int64_t k = 0; k < 1000 + i; ++k)
      loop.poll(k / 10, k % 10);
    done += 1;
    while (done < 7)
      loop.poll(-1);
  });
  EXPECT_EQ(done, 7);
}

// A loop without variables of its own has no words, and no place where they would be.
TEST_P(AtThreads, WhoHasNoStateGoesOn) {
  std::atomic<int> polls{0};
  spmd(2, true, [&](int64_t i) {
    StrataPoll record{};
    Loop loop{&loopB, i};
    for (int64_t n = 0; polls < 3; ++n)
      if (i == 0)
        strata_poll(&record, &loopA, i, polls++ == 0, nullptr, 0);
      else
        loop.poll(n);
  });
  EXPECT_EQ(polls, 3);
}

TEST_P(AtThreads, TwoThatWaitForEachOtherAreNamed) {
  EXPECT_EXIT(
      {
        setThreads(GetParam());
        std::atomic<int64_t> flags[3] = {};
        spmd(3, true, [&](int64_t i) {
          Loop loop{i == 1 ? &loopA : &loopB, i};
          while (i != 0 && flags[i] == 0)
            loop.poll();
          flags[i == 0 ? 0 : 3 - i] = 1;
        });
      },
      ::testing::ExitedWithCode(1),
      "p.hbir:3:7: error: nothing can run any more.*tile 1 in the loop at p.hbir:3:7; tile 2 in the loop at "
      "p.hbir:9:1");
}

TEST_P(AtThreads, CirclesOfAnyLengthAreFound) {
  EXPECT_EXIT(
      {
        setThreads(GetParam());
        std::atomic<int64_t> flag{0};
        spmd(4, true, [&](int64_t i) {
          Loop loop{&loopA, i};
          for (int64_t k = 0; flag == 0; k = (k + 1) % (3 * i + 1)) // one looks at several places in turn
            loop.poll(k);
        });
      },
      ::testing::ExitedWithCode(1), "tiles 0, 1, 2, 3 in the loop");
}

INSTANTIATE_TEST_SUITE_P(Polls, AtThreads, ::testing::Values(1u, 2u, 7u));

} // namespace
} // namespace strata::runtime
