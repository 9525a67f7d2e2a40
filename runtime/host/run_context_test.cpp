// Run contexts: calls from several threads on machines of their own, calls within calls, and work that goes on when the
// call that started it has ended.
#include "runtime/core/run_context.h"

#include "runtime/core/hardware.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/stream.h"
#include "runtime/core/testing.h"
#include "runtime/host/machine.h"

#include <cstring>
#include <set>
#include <string>
#include <thread>

namespace strata::runtime {
namespace {

struct Contexts : WithThreads {
  void SetUp() override {
    WithThreads::SetUp();
    strata_machine(nullptr);
  }
};
STRATA_WITH_THREADS(Contexts);

const StrataMemory tileMemories[] = {memoryOf("main", 0, 1, 0, 64), memoryOf("local", 1000, 8, 1, 16)};
const StrataProcessor tileProcessors[] = {processorOf("control", 1, 0), processorOf("pe", 8, 16)};
const StrataMachine tiles = machineOf("tiles", tileMemories, tileProcessors, 2, 2);

const StrataMemory gridMemories[] = {memoryOf("scratch", 640, 4, 1, 64)};
const StrataProcessor gridProcessors[] = {processorOf("lane", 4, 1)};
const StrataMachine grid = machineOf("grid", gridMemories, gridProcessors, 1, 1);

/// A call, as the functions of C for entry points make it.
class Call {
public:
  explicit Call(const StrataMachine& machine) { strata_call_begin(&call_, &machine); }
  ~Call() { strata_call_end(&call_); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

private:
  StrataCall call_{};
};

/// Fills the stores of a machine from all of its processors, beside each other, and counts what it has done.
void work(const StrataMachine& machine, uint32_t memory, uint32_t processor, int round) {
  const auto count = static_cast<int64_t>(machine.processors[processor].count);
  const auto bytes = static_cast<size_t>(machine.memories[memory].capacity);
  spmd(
      count, true,
      [&](int64_t i) {
        auto* store = static_cast<unsigned char*>(strata_store(memory));
        const auto mark = static_cast<int>((round * 8 + i) % 251);
        std::memset(store, mark, bytes);
        strata_count(machine.name, 1);
        strata_barrier();
        for (size_t k = 0; k < bytes; ++k)
          ASSERT_EQ(store[k], mark);
      },
      processor);
  StrataToken* token = spawn([&] { ASSERT_EQ(executingInstance(), 2) << machine.name; }, {}, processor, 2);
  void* scratch = strata_acquire(1000, "scratch");
  std::memset(scratch, round, 1000);
  wait(token);
  strata_release(scratch);
}

TEST_P(Contexts, TwoThreadsCallOnMachinesOfTheirOwn) {
  constexpr int rounds = 200;
  auto caller = [](const StrataMachine& machine, uint32_t memory, uint32_t processor) {
    for (int round = 0; round < rounds; ++round) {
      const Call call(machine);
      work(machine, memory, processor, round);
      const auto processors = static_cast<int64_t>(machine.processors[processor].count);
      ASSERT_EQ(counters(), (std::map<std::string, int64_t>{{machine.name, processors}}));
      resetCounters();
    }
  };
  std::thread first(caller, std::cref(tiles), 1, 1), second(caller, std::cref(grid), 0, 0);
  caller(tiles, 1, 1); // the first one's machine
  first.join();
  second.join();
  EXPECT_TRUE(counters().empty());
}

TEST_P(Contexts, WhatTwoThreadsTraceAndPrintIsApart) {
  testing::internal::CaptureStdout();
  auto caller = [](const StrataMachine& machine, const char* name) {
    const Call call(machine);
    strata_print_begin();
    strata_trace_begin(name);
    spmd(
        4, true,
        [&](int64_t i) {
          strata_trace_begin(name);
          strata_print(3 - i, (std::string(name) + "\n").c_str(), nullptr, 0);
          strata_barrier();
          strata_trace_end();
        },
        0);
    strata_trace_end();
    const std::string json = traceJson();
    EXPECT_NE(json.find(std::string("\"name\":\"") + name), json.npos);
    EXPECT_EQ(json.find(name == std::string("one") ? "two" : "one"), json.npos) << json;
    strata_print_end();
  };
  std::thread other(caller, std::cref(grid), "two");
  caller(tiles, "one");
  other.join();
  const std::string text = testing::internal::GetCapturedStdout(), one = "one\none\none\none\n",
                    two = "two\ntwo\ntwo\ntwo\n";
  EXPECT_TRUE(text == one + two || text == two + one) << text;
  EXPECT_EQ(traceJson().find("\"ph\":\"X\""), std::string::npos);
}

TEST_P(Contexts, ACallWithinACallHasAContextOfItsOwn) {
  const Call outer(tiles);
  spmd(
      8, true,
      [&](int64_t i) {
        auto* mine = static_cast<char*>(strata_store(1));
        *mine = static_cast<char>(i);
        RunContext* around = current()->runContext;
        { // as a function in C that an instance runs
          const Call inner(i % 2 ? grid : tiles);
          EXPECT_NE(current()->runContext, around);
          EXPECT_EQ(executingProcessor(), Execution::noProcessor);
          EXPECT_NE(strata_store(i % 2 ? 0 : 1), mine);
          strata_barrier(); // of no job: the call is in none
          work(i % 2 ? grid : tiles, i % 2 ? 0 : 1, i % 2 ? 0 : 1, static_cast<int>(i));
          EXPECT_EQ(counters().size(), 1u);
        }
        EXPECT_EQ(current()->runContext, around);
        EXPECT_EQ(executingProcessor(), 1u);
        EXPECT_EQ(strata_instance(), i);
        EXPECT_EQ(strata_store(1), mine);
        EXPECT_EQ(*mine, static_cast<char>(i));
        strata_barrier();
      },
      1);
  EXPECT_TRUE(counters().empty());
}

TEST_P(Contexts, WhatACallWithinACallPrintsComesOutWithTheOuterOne) {
  testing::internal::CaptureStdout();
  {
    const Call outer(tiles);
    strata_print_begin();
    strata_print(2, "outer\n", nullptr, 0);
    {
      const Call inner(grid);
      strata_print_begin();
      strata_print(1, "inner\n", nullptr, 0);
      strata_print_end();
    }
    strata_print_end();
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "inner\nouter\n");
}

TEST_P(Contexts, WorkThatGoesOnKeepsThemAndTheirStores) {
  StrataStream* go = strata_stream_create(4, 1, "go");
  StrataToken* token = nullptr;
  char* store = nullptr;
  int element = 0;
  {
    const Call call(tiles);
    store = static_cast<char*>(strata_store(1));
    std::strcpy(store, "still here");
    token = spawn(
        [&] {
          int received = 0;
          strata_stream_pop(go, &received);
          EXPECT_EQ(received, 5);
          EXPECT_STREQ(static_cast<char*>(strata_store(1)), "still here");
          EXPECT_EQ(strata_store(1), store);
          strata_count("late", 1);
          work(tiles, 1, 1, 1); // more that it starts
        },
        {}, 1, 0);
  }
  EXPECT_EQ(current()->runContext, &RunContext::outside());
  { // the same machine, while that work holds its stores
    const Call call(tiles);
    EXPECT_NE(strata_store(1), store);
    work(tiles, 1, 1, 2);
  }
  element = 5;
  strata_stream_push(go, &element);
  wait(token);
  strata_stream_destroy(go);
  std::set<void*> stores; // what it held is used again
  {
    const Call first(tiles);
    stores.insert(strata_store(1));
    const Call second(tiles);
    stores.insert(strata_store(1));
  }
  EXPECT_EQ(stores.count(store), 1u);
}

TEST_P(Contexts, AnOutputThatHasEndedIsWrittenAtOnce) {
  testing::internal::CaptureStdout();
  StrataStream* go = strata_stream_create(4, 1, "go");
  StrataToken* token = nullptr;
  {
    const Call call(tiles);
    strata_print_begin();
    token = spawn([&] {
      int received = 0;
      strata_stream_pop(go, &received);
      strata_print(0, "late\n", nullptr, 0);
    });
    strata_print(1, "in time\n", nullptr, 0);
    strata_print_end();
  }
  const int element = 0;
  strata_stream_push(go, &element);
  wait(token);
  strata_stream_destroy(go);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "in time\nlate\n");
}

TEST_P(Contexts, ATokenThatNobodyReleasesInTimeIsNoUserOfAnother) {
  std::vector<StrataToken*> tokens;
  for (int round = 0; round < 20; ++round) {
    const Call call(round % 2 ? tiles : grid);
    tokens.push_back(spawn([] { strata_yield(); }));
  }
  wait(tokens);
  EXPECT_EQ(current()->runContext, &RunContext::outside());
}

TEST_P(Contexts, AnotherMachineWithinACallEndsWithIt) {
  {
    const Call call(tiles);
    RunContext* own = current()->runContext;
    StrataToken* token = spawn([] { strata_yield(); }, {}, 1, 3);
    spmd(
        8, true,
        [&](int64_t i) {
          if (i == 0)
            strata_machine(&grid);
          strata_barrier();
          EXPECT_EQ(storesOf(*current())->memories.size(), i == 0 ? 1u : 2u);
        },
        1);
    EXPECT_EQ(current()->runContext, own);
    strata_machine(&grid);
    EXPECT_EQ(storesOf(*current())->memories.size(), 1u);
    wait(token);
  }
  EXPECT_EQ(current()->runContext, &RunContext::outside());
}

TEST_P(Contexts, FiguresOfTheHardwareAreThoseOfTheMachine) {
  StrataMachine fast = grid, slow = tiles;
  fast.hardware = {100, 8, 1 << 16};
  slow.hardware = {200, 0, 0};
  const Hardware usual;
  {
    const Call call(fast);
    EXPECT_EQ(hardware().taskBytes, 100);
    EXPECT_EQ(hardware().tileElements, 8);
    EXPECT_EQ(hardware().largePageBytes, 1u << 16);
    {
      const Call inner(slow);
      EXPECT_EQ(hardware().taskBytes, 200);
      EXPECT_EQ(hardware().tileElements, usual.tileElements); // not stated
    }
    wait(spawn([] { EXPECT_EQ(hardware().taskBytes, 100); }));
  }
  EXPECT_EQ(hardware().taskBytes, usual.taskBytes);
}

TEST_P(Contexts, AFailureNamesTheProcessorOfItsOwnMachine) {
  const auto run = [] {
    std::atomic<bool> begun{false};
    std::thread other([&] {
      for (const Call call(grid); true; begun = true)
        work(grid, 0, 0, 1);
    });
    while (!begun)
      std::this_thread::yield();
    const Call call(tiles);
    spmd(9, false, [](int64_t) { strata_store(1); }, 1);
    other.join();
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(1), "pe 8 has no instance of memory 'local', of which there are 8");
}

} // namespace
} // namespace strata::runtime
