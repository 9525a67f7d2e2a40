// Stores of explicit memories, and many processors: who runs what, where, and in which order results are combined.
#include "runtime/host/machine.h"

#include "runtime/core/reduction.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/testing.h"

#include <atomic>
#include <cstring>
#include <random>
#include <set>

namespace strata::runtime {
namespace {

#ifdef STRATA_THREAD_SANITIZER
constexpr int64_t manyInstances = 500;
#else
constexpr int64_t manyInstances = 10000;
#endif

using Stored = WithThreads;
using Spmd = WithThreads;
STRATA_WITH_THREADS(Stored);
STRATA_WITH_THREADS(Spmd);

enum : uint32_t { Main, Local, Wide };
enum : uint32_t { Control, Pe, Lane };
const StrataMemory memories[] = {memoryOf("main", 0, 1, 0, 64), memoryOf("local", 1000, 8, 1, 16),
                                 memoryOf("wide", 3 * 4096, 2, 1, 1 << 16)};
const StrataProcessor processors[] = {processorOf("control", 1, 0), processorOf("pe", 8, 16),
                                      processorOf("lane", 64, 0)};
const StrataMachine machine = machineOf("tiles", memories, processors, 3, 3);

TEST_P(Stored, EveryProcessorHasItsOwn) {
  strata_machine(&machine);
  std::vector<char*> stores(8);
  spmd(
      8, true,
      [&](int64_t i) {
        stores[i] = static_cast<char*>(strata_store(Local));
        std::memset(stores[i], static_cast<int>(i) + 1, 1000);
        strata_barrier();
        for (int k = 0; k < 1000; ++k)
          ASSERT_EQ(stores[i][k], i + 1);
      },
      Pe);
  EXPECT_EQ(std::set<char*>(stores.begin(), stores.end()).size(), 8u);
  EXPECT_EQ(strata_store(Local), stores[0]);
  for (const char* store : stores)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(store) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(strata_store(Wide)) % (1 << 16), 0u);
}

TEST_P(Stored, NeighboursShareOneOfFewer) {
  strata_machine(&machine);
  std::vector<void*> wide(8), local(64);
  spmd(8, false, [&](int64_t i) { wide[i] = strata_store(Wide); }, Pe);
  EXPECT_EQ(std::set<void*>(wide.begin(), wide.end()).size(), 2u);
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(wide[i], wide[i / 4 * 4]);
  spmd(64, false, [&](int64_t i) { local[i] = strata_store(Local); }, Lane);
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(local[i], local[i / 8 * 8]);
  EXPECT_EQ(std::set<void*>(local.begin(), local.end()).size(), 8u);
  spmd(1, false, [&](int64_t) { EXPECT_EQ(strata_store(Local), local[0]); }, Control);
}

TEST_P(Stored, KeepTheirContents) {
  strata_machine(&machine);
  *static_cast<int*>(strata_store(Local)) = 77;
  strata_machine(&machine);
  wait(spawn([] { EXPECT_EQ(*static_cast<int*>(strata_store(Local)), 77); }, {}, Pe, 0));
  wait(spawn([] { EXPECT_EQ(strata_instance(), 5); }, {}, Pe, 5));
}

TEST_P(Stored, AnOverrunDoesNotGoUnseen) {
#ifdef STRATA_ADDRESS_SANITIZER
  constexpr size_t beyond = 1000; // to the byte
#else
  constexpr size_t beyond = 1024; // the padding that alignment asks for comes first
#endif
  EXPECT_DEATH(
      {
        strata_machine(&machine);
        static_cast<volatile char*>(strata_store(Local))[beyond] = 1;
      },
      "");
}

TEST_P(Stored, MissingOnesAreNamed) {
  EXPECT_EXIT(
      {
        strata_machine(&machine);
        strata_store(Main);
      },
      ::testing::ExitedWithCode(1), "memory 'main' has no storage of its own \\[runtime-no-store\\]");
  EXPECT_EXIT(
      {
        strata_machine(&machine);
        spmd(9, false, [](int64_t) { strata_store(Local); }, Pe);
      },
      ::testing::ExitedWithCode(1), "pe 8 has no instance of memory 'local', of which there are 8");
  EXPECT_EXIT(strata_store(0), ::testing::ExitedWithCode(1), "runtime-no-store");
}

TEST_P(Stored, BlocksOnAStack) {
  strata_machine(&machine);
  spmd(
      8, false,
      [](int64_t) {
        char* store = static_cast<char*>(strata_store(Local));
        void* outer = strata_stack_acquire(Local, 64, 3, "outer");
        void* inner = strata_stack_acquire(Local, 64, 0, "nothing");
        void* last = strata_stack_acquire(Local, 64, 100, "last");
        EXPECT_EQ(outer, store + 64);
        EXPECT_EQ(inner, last);
        EXPECT_GE(static_cast<char*>(last), store + 67);
        EXPECT_EQ((static_cast<char*>(last) - store) % 16, 0);
        strata_stack_release(Local, last);
        strata_stack_release(Local, inner);
        strata_stack_release(Local, outer);
        EXPECT_EQ(strata_stack_acquire(Local, 64, 928, "all"), store + 64);
        strata_stack_release(Local, store + 64);
      },
      Pe);
  EXPECT_EXIT(
      {
        strata_machine(&machine);
        strata_stack_acquire(Local, 64, 100, "some");
        strata_stack_acquire(Local, 64, 900, "more");
      },
      ::testing::ExitedWithCode(1),
      "memory 'local' holds 1000 bytes, .* of them are taken, and 'more' of a task that calls itself wants 900 more "
      "\\[runtime-store-full\\]");
  EXPECT_EXIT(
      {
        strata_machine(&machine);
        void* first = strata_stack_acquire(Local, 64, 100, "first");
        void* second = strata_stack_acquire(Local, 64, 100, "second");
        strata_stack_release(Local, first);
        strata_stack_release(Local, second);
      },
      ::testing::ExitedWithCode(1), "runtime-release-order");
}

TEST_P(Stored, AnImpossibleMemoryIsRefused) {
  static const StrataMemory vast[] = {memoryOf("vast", uint64_t(1) << 60, 1000, 1, 64)};
  static const StrataMachine impossible = machineOf("impossible", vast, nullptr, 1, 0);
  EXPECT_EXIT(strata_machine(&impossible), ::testing::ExitedWithCode(1),
              "no memory for the 1000 instances of memory 'vast'.*runtime-out-of-memory");
}

TEST_P(Stored, ManySmallOnes) {
  static const StrataMemory registers[] = {memoryOf("registers", 512, 10000, 1, 8)};
  static const StrataProcessor cells[] = {processorOf("cell", 10000, 0)};
  static const StrataMachine array = machineOf("array", registers, cells, 1, 1);
  strata_machine(&array);
  spmd(10000, false, [](int64_t i) { *static_cast<int64_t*>(strata_store(0)) = i; }, 0);
  spmd(10000, false, [](int64_t i) { ASSERT_EQ(*static_cast<int64_t*>(strata_store(0)), i); }, 0);
}

TEST_P(Stored, CallsAtOnceHaveStoresOfTheirOwn) {
  strata_machine(&machine);
  void* before = strata_store(Local);
  StrataCall outer, inner;
  strata_call_begin(&outer, &machine);
  void* first = strata_store(Local);
  EXPECT_NE(first, before);
  strata_call_begin(&inner, &machine); // from a function in C that the first call runs
  EXPECT_NE(strata_store(Local), first);
  strata_call_end(&inner);
  EXPECT_EQ(strata_store(Local), first);
  strata_call_end(&outer);
  EXPECT_EQ(strata_store(Local), before);
  strata_call_begin(&outer, &machine);
  *static_cast<int*>(strata_store(Local)) = 1;
  wait(spawn([] { EXPECT_EQ(*static_cast<int*>(strata_store(Local)), 1); }, {}, Pe, 0));
  strata_call_end(&outer);
}

TEST_P(Spmd, EveryInstanceRunsOnce) {
  for (const int64_t instances : {int64_t(0), int64_t(1), int64_t(2), int64_t(17), manyInstances})
    for (const bool concurrent : {false, true}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(instances));
      spmd(instances, concurrent, [&](int64_t i) { ++runs[i]; });
      for (const auto& count : runs)
        ASSERT_EQ(count, 1);
    }
}

TEST_P(Spmd, ConcurrentInstancesWaitForEachOther) {
  std::atomic<int64_t> arrived{0};
  spmd(manyInstances, true, [&](int64_t) {
    for (int round = 1; round <= 3; ++round) {
      ++arrived;
      strata_barrier();
      EXPECT_GE(arrived, round * manyInstances);
      strata_barrier();
    }
  });
  EXPECT_EQ(arrived, 3 * manyInstances);
}

TEST_P(Spmd, ConcurrentInstancesMayPoll) {
  std::atomic<int64_t> turn{0};
  spmd(200, true, [&](int64_t i) {
    while (turn != 199 - i)
      strata_yield();
    ++turn;
  });
  EXPECT_EQ(turn, 200);
}

TEST_P(Spmd, NestedInstancesDivideTheProcessors) {
  strata_machine(&machine);
  std::vector<std::atomic<int>> seen(64);
  for (const bool concurrent : {false, true}) {
    spmd(
        8, concurrent,
        [&](int64_t outer) {
          spmd(
              4, concurrent,
              [&](int64_t middle) {
                EXPECT_EQ(strata_instance(), outer * 8 + middle * 2);
                spmd(2, concurrent, [&](int64_t) { ++seen[strata_instance()]; }, Lane);
                EXPECT_EQ(strata_instance(), outer * 8 + middle * 2);
              },
              Lane);
          EXPECT_EQ(strata_instance(), outer);
          EXPECT_EQ(executingProcessor(), Pe);
        },
        Pe);
  }
  for (const auto& count : seen)
    EXPECT_EQ(count, 2);
  EXPECT_EQ(executingProcessor(), Execution::noProcessor);
}

TEST_P(Spmd, FewerInstancesThanPartsLeaveProcessorsIdle) {
  strata_machine(&machine);
  std::vector<std::atomic<int>> seen(64);
  auto inParts = [](int64_t instances, int64_t count, uint32_t processor, auto body) {
    const StrataParts parts{processor, 0, count, 0, 0, 0};
    strata_spmd([](void* context, int64_t i) { (*static_cast<decltype(body)*>(context))(i); }, &body, sizeof body,
                instances, &parts);
  };
  inParts(4, 4, Pe, [&](int64_t outer) {
    EXPECT_EQ(strata_instance(), outer * 2);
    // The last has less to do: its processors are still its own.
    inParts(outer == 3 ? 1 : 2, 2, Pe, [&](int64_t) { ++seen[strata_instance()]; });
    // A class above: whom this one belongs to.
    inParts(1, 1, Control, [&](int64_t) { EXPECT_EQ(strata_instance(), 0); });
  });
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(seen[i], i < 7);
}

TEST_P(Spmd, WhoIsNobodyInParticularStandsForTheFirst) {
  strata_machine(&machine);
  wait(spawn(
      [] {
        spmd(1, false, [](int64_t i) { EXPECT_EQ(strata_instance(), 8 * i); }, Lane);
        spmd(1, false, [](int64_t i) { EXPECT_EQ(strata_instance(), i); }, Pe);
      },
      {}, Pe, -1));
}

TEST_P(Spmd, ASubsetOfAPartsProcessors) {
  strata_machine(&machine);
  std::vector<std::atomic<int>> seen(64);
  auto onSubset = [](int64_t count, uint32_t processor, int64_t first, int64_t width, auto body) {
    const StrataParts parts{processor, 0, count, first, width, 0};
    strata_spmd([](void* context, int64_t i) { (*static_cast<decltype(body)*>(context))(i); }, &body, sizeof body,
                count, &parts);
  };
  onSubset(2, Pe, 4, 4, [&](int64_t outer) {
    EXPECT_EQ(strata_instance(), 4 + outer * 2);
    onSubset(3, Lane, 5, 3, [&](int64_t) { ++seen[strata_instance()]; });
  });
  for (int64_t i = 0; i < 64; ++i)
    EXPECT_EQ(seen[i], (i >= 37 && i < 40) || (i >= 53 && i < 56)) << i;
}

TEST_P(Spmd, MoreThanCanBeNumberedIsRefused) {
  EXPECT_EXIT(wait(spawn([] { spmd(INT64_MAX, false, [](int64_t) {}, Pe); }, {}, Pe, 2)), ::testing::ExitedWithCode(1),
              "runtime-instances");
}

TEST_P(Spmd, InstancesUseStreamsAndTokens) {
  std::vector<int64_t> sums(20);
  spmd(20, true, [&](int64_t i) {
    StrataStream* stream = strata_stream_create(8, 2, "inner");
    StrataToken* producer = spawn([=] {
      for (int64_t k = 0; k < 500; ++k)
        strata_stream_push(stream, &k);
      strata_stream_end(stream);
    });
    int64_t element;
    while (strata_stream_pop(stream, &element))
      sums[i] += element;
    wait(producer);
    strata_stream_destroy(stream);
  });
  EXPECT_EQ(sums, std::vector<int64_t>(20, 500 * 499 / 2));
}

TEST_P(Spmd, AReductionIsRoundedTheSameWayOnAnyNumberOfThreads) {
  constexpr int64_t count = 1000;
  std::mt19937 random(5);
  std::vector<float> values(count);
  for (float& value : values)
    value = std::uniform_real_distribution<float>(-1e6f, 1e6f)(random);
  std::vector<float> partials(count);
  spmd(count, false, [&](int64_t i) { partials[i] = values[i]; });
  strata_reduce(
      partials.data(), count, sizeof(float),
      [](void*, void* into, const void* from) { *static_cast<float*>(into) += *static_cast<const float*>(from); },
      nullptr);
  // The same tree, written down as the recursion that it is.
  const std::function<float(int64_t, int64_t)> sum = [&](int64_t begin, int64_t width) -> float {
    if (width == 1)
      return values[begin];
    const float left = sum(begin, width / 2);
    return begin + width / 2 < count ? left + sum(begin + width / 2, width / 2) : left;
  };
  EXPECT_EQ(partials[0], sum(0, 1024));
}

} // namespace
} // namespace strata::runtime
