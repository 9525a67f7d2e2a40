// Fibres, tokens, and what happens when nothing can run any more.
#include "runtime/core/scheduler.h"

#include "runtime/core/testing.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <numeric>
#include <random>
#include <sched.h>
#include <thread>

namespace strata::runtime {
namespace {

#ifdef STRATA_THREAD_SANITIZER
constexpr int manyFibres = 500; // the sanitizer knows no more than some thousands of stacks
#else
constexpr int manyFibres = 10000;
#endif

using Fibres = WithThreads;
using Tokens = WithThreads;
using Deadlocks = WithThreads;
STRATA_WITH_THREADS(Fibres);
STRATA_WITH_THREADS(Tokens);
STRATA_WITH_THREADS(Deadlocks);

TEST_P(Fibres, TenThousandAreBlockedAtOnceAndAllEnd) {
  StrataStream* gate = strata_stream_create(1, 1, "gate");
  StrataToken* opened = spawn([&] {
    char element;
    strata_stream_pop(gate, &element);
  });
  std::atomic<int> ended{0};
  std::vector<StrataToken*> tokens;
  for (int i = 0; i < manyFibres; ++i)
    tokens.push_back(spawn([&] {
      strata_wait(opened);
      ++ended;
    }));
  for (int i = 0; i < 100; ++i)
    strata_yield(); // most have begun and wait
  EXPECT_EQ(ended, 0);
  strata_stream_push(gate, "x");
  wait(tokens);
  EXPECT_EQ(ended, manyFibres);
  strata_token_release(opened);
  strata_stream_destroy(gate);
}

TEST_P(Fibres, WhatAThreadLeavesBehindRuns) {
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> ended{0};
    std::vector<StrataToken*> tokens;
    std::thread([&] {
      for (int k = 0; k < 1 + i % 3; ++k)
        tokens.push_back(spawn([&] { ++ended; }));
    }).join();
    wait(tokens);
    EXPECT_EQ(ended, 1 + i % 3);
  }
}

#if defined(STRATA_THREAD_SANITIZER) || defined(STRATA_ADDRESS_SANITIZER)
constexpr int64_t manyTiles = 200; // every switch is told to the sanitizer
#else
constexpr int64_t manyTiles = 8192;
#endif

/// Each instance waits until the one before it, in a given order, has set its flag.
template <typename Before>
void pollInTurn(Before before) {
  std::vector<std::atomic<int>> flags(manyTiles);
  spmd(manyTiles, true, [&](int64_t i) {
    if (const int64_t other = before(i); other >= 0 && other < manyTiles)
      while (flags[static_cast<size_t>(other)].load(std::memory_order_relaxed) == 0)
        strata_yield();
    std::atomic_thread_fence(std::memory_order_acq_rel);
    flags[static_cast<size_t>(i)].store(1, std::memory_order_relaxed);
  });
  for (const auto& flag : flags)
    EXPECT_EQ(flag, 1);
}

TEST_P(Fibres, ThousandsOfInstancesPollEachOtherInOrder) {
  for (int again = 0; again < 3; ++again) // stacks are used again
    pollInTurn([](int64_t i) { return i - 1; });
}

TEST_P(Fibres, ThousandsOfInstancesPollEachOtherAgainstTheirOrder) {
  pollInTurn([](int64_t i) { return i + 1; });
}

TEST_P(Fibres, ALateNotificationDoesNotKeepAThreadThatPollsToItself) {
  unpark(current()); // as the last participant of a job that has ended may do
  std::atomic<bool> set{false};
  StrataToken* token = spawn([&set] { set = true; });
  while (!set)
    strata_yield();
  wait(token);
}

// A waker without a fence may miss whoever parks meanwhile. The thread looks after those that parked on it, also when
// it never sleeps since another one polls there for what they would do.
TEST_P(Fibres, WhoeverPollsDoesNotKeepOneThatWasMissed) {
  if (threads() == 1 || wakerNeedsFence)
    GTEST_SKIP() << "nobody is missed";
  std::atomic<uint32_t> busy{0};
  std::atomic<bool> hasPolled{false}, hasEnded{false};
  std::vector<StrataToken*> tokens;
  for (uint32_t i = 1; i < threads(); ++i)
    tokens.push_back(spawn([&] {
      ++busy;
      while (!hasEnded)
        sched_yield();
    }));
  while (busy < threads() - 1) // this thread is left
    sched_yield();
  tokens.push_back(spawn([&] {
    while (!hasPolled)
      strata_yield();
    const auto describe = [](const void*, std::string& out) { out += "nothing"; };
    parkUnfenced({describe, &hasEnded}, [](const void*, const Execution*) { return true; });
    hasEnded = true;
  }));
  tokens.push_back(spawn([&] {
    hasPolled = true;
    while (!hasEnded)
      strata_yield();
  }));
  wait(tokens);
  EXPECT_TRUE(hasEnded);
}

TEST_P(Fibres, YieldLetsTheOthersRun) {
  std::atomic<int> turn{0};
  std::vector<StrataToken*> tokens;
  for (int i = 0; i < 50; ++i)
    tokens.push_back(spawn([&turn, i] {
      while (turn.load() != 49 - i)
        strata_yield();
      turn.fetch_add(1);
    }));
  wait(tokens);
  EXPECT_EQ(turn, 50);
}

TEST_P(Fibres, KeepTheirOwnStackAcrossThreads) {
  std::vector<StrataToken*> tokens;
  std::atomic<int64_t> total{0};
  for (int i = 0; i < 64; ++i)
    tokens.push_back(spawn([&total, i] {
      volatile int64_t values[256];
      for (int k = 0; k < 256; ++k)
        values[k] = i * k;
      for (int k = 0; k < 50; ++k)
        strata_yield();
      int64_t sum = 0;
      for (int k = 0; k < 256; ++k)
        sum += values[k];
      total += sum;
    }));
  wait(tokens);
  EXPECT_EQ(total, 255 * 128 * (63 * 32));
}

TEST_P(Fibres, SeveralThreadsOfTheUserCallIn) {
  std::atomic<int> runs{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        wait({spawn([&] { ++runs; }), spawn([&] { ++runs; })});
    });
  for (std::thread& caller : callers)
    caller.join();
  EXPECT_EQ(runs, 400);
}

TEST(FibreStacks, CanBeMadeLarger) {
  const size_t before = fibreStackBytes();
  setFibreStackBytes(8 << 20);
  bool ran = false;
  wait(spawn([&] {
    volatile char large[7 << 20];
    large[0] = 1;
    large[sizeof large - 1] = 1;
    ran = large[0] + large[sizeof large - 1] == 2;
  }));
  setFibreStackBytes(before);
  EXPECT_TRUE(ran);
}

#if !defined(STRATA_ADDRESS_SANITIZER) && !defined(STRATA_THREAD_SANITIZER)
int64_t recurse(int64_t depth) { // NOLINT(misc-no-recursion): that is the point
  volatile int64_t frame[64];
  frame[depth % 64] = depth;
  return depth == 0 ? 0 : recurse(depth - 1) + frame[depth % 64];
}

TEST_P(Fibres, RunningOutOfStackIsReported) {
  EXPECT_EXIT(wait(spawn([] { recurse(100000); })), ::testing::ExitedWithCode(1),
              "the program has used up a stack of 61440 bytes \\[runtime-stack-overflow\\]");
  EXPECT_EXIT(wait(spawn([] {
                volatile char large[300 << 10]; // steps over the page below the stack
                for (volatile char& each : large)
                  each = 1;
              })),
              ::testing::ExitedWithCode(1), "the program has used up a stack of 61440 bytes");
  EXPECT_EXIT(
      {
        strata_yield();
        raise(SIGSEGV);
        *static_cast<volatile int*>(nullptr) = 1;
      },
      ::testing::KilledBySignal(SIGSEGV), "");
}
#endif

TEST(Threads, AsManyAsAskedForOrAnError) {
  const uint32_t before = threads();
  setThreads(mostWorkers);
  EXPECT_EQ(threads(), mostWorkers);
  EXPECT_EXIT(setThreads(mostWorkers + 1), ::testing::ExitedWithCode(1), "513 threads to run on, and there can be 512");
  setThreads(before);
}

TEST(Threads, WhatIsMadeReadyWhileTheyEndRuns) {
  const uint32_t before = threads();
  for (const uint32_t next : {3u, 1u, 4u}) {
    setThreads(2);
    std::atomic<bool> begun{false}, ended{false};
    StrataToken* last = nullptr;
    StrataToken* first = spawn([&] {
      begun = true;
      while (threads() != next) // on the one that is to end
        std::this_thread::yield();
      last = spawn([&] { ended = true; });
    });
    while (!begun)
      std::this_thread::yield();
    setThreads(next);
    wait(first);
    wait(last);
    EXPECT_TRUE(ended);
  }
  setThreads(before);
}

TEST(Threads, OneRunsEverythingInTheCaller) {
  setThreads(1);
  const auto caller = std::this_thread::get_id();
  bool same = true;
  spmd(100, false, [&](int64_t) { same &= std::this_thread::get_id() == caller; });
  wait(spawn([&] { same &= std::this_thread::get_id() == caller; }));
  EXPECT_TRUE(same);
  EXPECT_EQ(threads(), 1u);
}

TEST_P(Tokens, ArgumentsAreCopied) {
  struct Arguments {
    int64_t value;
    int64_t* result;
  };
  int64_t result = 0;
  Arguments arguments{42, &result};
  StrataToken* token = strata_spawn(
      [](void* given) {
        const auto* arguments = static_cast<Arguments*>(given);
        *arguments->result = arguments->value;
      },
      &arguments, sizeof arguments, 0, 0, nullptr, 0);
  arguments.value = 0;
  wait(token);
  EXPECT_EQ(result, 42);
}

TEST_P(Tokens, NullIsDone) {
  strata_wait(nullptr);
  strata_token_release(nullptr);
  wait(spawn([] {}, {nullptr, nullptr}));
}

TEST_P(Tokens, CanBeWaitedForTwiceAndByMany) {
  StrataToken* token = spawn([] { strata_yield(); });
  std::vector<StrataToken*> others;
  for (int i = 0; i < 10; ++i)
    others.push_back(spawn([=] { strata_wait(token); }));
  wait(others);
  strata_wait(token);
  strata_wait(token);
  strata_token_release(token);
}

TEST_P(Tokens, ReleasedEarlyStillRuns) {
  std::atomic<bool> ran{false};
  strata_token_release(spawn([&] { ran = true; }));
  while (!ran)
    strata_yield();
}

TEST_P(Tokens, RandomGraphRunsInOrder) {
  constexpr int tasks = 400;
  std::mt19937 random(7);
  std::vector<StrataToken*> tokens(tasks);
  std::vector<std::vector<int>> before(tasks);
  std::vector<std::atomic<bool>> done(tasks);
  std::atomic<int> violations{0};
  for (int i = 0; i < tasks; ++i) {
    std::vector<StrataToken*> after;
    for (int k = 0; i && k < static_cast<int>(random() % 5); ++k) {
      before[i].push_back(static_cast<int>(random() % i));
      after.push_back(tokens[before[i].back()]);
    }
    tokens[i] = spawn(
        [&, i] {
          for (const int earlier : before[i])
            violations += !done[earlier].load(std::memory_order_relaxed);
          if (i % 3 == 0)
            strata_yield();
          done[i].store(true, std::memory_order_relaxed);
        },
        after);
  }
  wait(tokens);
  EXPECT_EQ(violations, 0);
}

TEST_P(Tokens, ALongChainOfDependences) {
  int64_t value = 0; // not atomic: the chain orders the increments
  StrataToken* last = nullptr;
  for (int i = 0; i < 2000; ++i) {
    StrataToken* next = spawn([&] { ++value; }, {last});
    strata_token_release(last);
    last = next;
  }
  wait(last);
  EXPECT_EQ(value, 2000);
}

// ---- deadlocks: reported at once, by name ----

const StrataProcessor gridProcessors[] = {processorOf("pe", 4, 0)};
const StrataMachine grid = machineOf("grid", nullptr, gridProcessors, 0, 1);

TEST_P(Deadlocks, ALonePopperIsNamed) {
  EXPECT_EXIT(
      {
        StrataStream* stream = strata_stream_create(4, 2, "samples");
        int element;
        strata_stream_pop(stream, &element);
      },
      ::testing::ExitedWithCode(1),
      "error: nothing can run any more: the calling thread waits for an element of stream 'samples' \\(empty\\) "
      "\\[runtime-deadlock\\]");
}

TEST_P(Deadlocks, ACycleOfKernelsIsListed) {
  EXPECT_EXIT(
      {
        strata_machine(&grid);
        StrataStream* there = strata_stream_create(4, 1, "there");
        StrataStream* back = strata_stream_create(4, 1, "back");
        const auto kernel = [](StrataStream* in, StrataStream* out) {
          int element = 0;
          strata_stream_push(out, &element);
          strata_stream_push(out, &element);
          strata_stream_pop(in, &element);
        };
        StrataToken* first = spawn([=] { kernel(back, there); }, {}, 0, 0);
        StrataToken* second = spawn([=] { kernel(there, back); }, {}, 0, 1);
        wait({first, second});
      },
      ::testing::ExitedWithCode(1),
      "the calling thread waits for the end of what runs beside it on pe 0; "
      "pe 0 waits for room in stream 'there' \\(full, 1 element\\); "
      "pe 1 waits for room in stream 'back' \\(full, 1 element\\)");
}

TEST_P(Deadlocks, ABarrierThatNotAllReachIsNamed) {
  EXPECT_EXIT(
      {
        strata_machine(&grid);
        spmd(
            3, true,
            [](int64_t i) {
              if (i)
                strata_barrier();
            },
            0);
      },
      ::testing::ExitedWithCode(1), "2 of 3 instances wait at a barrier, and all others have ended.*runtime-barrier");
}

TEST_P(Deadlocks, AreReportedWithoutATimeOut) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EXIT(wait(spawn([] {
                StrataStream* stream = strata_stream_create(4, 2, "s");
                int element;
                strata_stream_peek(stream, 1, &element);
              })),
              ::testing::ExitedWithCode(1), "waits for 2 elements of stream 's' \\(empty\\)");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
}

TEST_P(Deadlocks, AThreadThatMayStillPushIsNone) {
  StrataStream* stream = strata_stream_create(4, 2, "late");
  std::atomic<bool> known{false};
  std::thread pusher([&] {
    strata_yield(); // calls in, so that the runtime knows it
    known = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    const int element = 5;
    strata_stream_push(stream, &element);
  });
  while (!known)
    std::this_thread::yield();
  int element = 0;
  EXPECT_EQ(strata_stream_pop(stream, &element), 1);
  EXPECT_EQ(element, 5);
  pusher.join();
  strata_stream_destroy(stream);
}

TEST_P(Deadlocks, UnknownThreadsAreAwaitedOnRequest) {
  setForeignThreads(true);
  StrataStream* stream = strata_stream_create(4, 2, "foreign");
  std::thread pusher([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    const int element = 6;
    strata_stream_push(stream, &element);
  });
  int element = 0;
  EXPECT_EQ(strata_stream_pop(stream, &element), 1);
  EXPECT_EQ(element, 6);
  pusher.join();
  setForeignThreads(false);
  strata_stream_destroy(stream);
}

} // namespace
} // namespace strata::runtime
