// What the runtime's tests share: a fixture that runs each test with 1, 2 and 7 threads, and a short way to start a
// lambda beside the caller.
#pragma once

#include "runtime/abi.h"
#include "runtime/core/runtime.h"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <utility>
#include <vector>

namespace strata::runtime {

class WithThreads : public ::testing::TestWithParam<uint32_t> {
protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    setThreads(GetParam());
  }
};

#define STRATA_WITH_THREADS(FIXTURE) INSTANTIATE_TEST_SUITE_P(Threads, FIXTURE, ::testing::Values(1u, 2u, 7u))

/// Starts `work` on a fibre; wait() below ends it.
inline StrataToken* spawn(std::function<void()> work, const std::vector<StrataToken*>& after = {},
                          uint32_t processor = ~0u, int64_t instance = 0) {
  struct Held { // spawning copies it
    std::function<void()>* work;
  } held{new std::function<void()>(std::move(work))};
  return strata_spawn(
      [](void* argument) {
        std::unique_ptr<std::function<void()>> run(static_cast<Held*>(argument)->work);
        (*run)();
      },
      &held, sizeof(Held), processor, instance, after.data(), static_cast<int32_t>(after.size()));
}

inline void wait(StrataToken* token) {
  strata_wait(token);
  strata_token_release(token);
}

inline void wait(const std::vector<StrataToken*>& tokens) {
  for (StrataToken* token : tokens)
    wait(token);
}

// Entries of a machine's tables without what only a trace or a simulator asks for.
inline StrataMemory memoryOf(const char* name, uint64_t capacity, uint32_t instances, uint32_t isExplicit,
                             uint32_t alignment) {
  return {name, capacity, instances, isExplicit, alignment, 1, 0, 0, 0};
}
inline StrataProcessor processorOf(const char* name, uint32_t count, uint32_t moves) {
  return {name, count, moves, 0, 0};
}
inline StrataMachine machineOf(const char* name, const StrataMemory* memories, const StrataProcessor* processors,
                               uint32_t memoryCount, uint32_t processorCount) {
  return {name, memories, processors, memoryCount, processorCount, nullptr, nullptr, 0, 0, 0, {}};
}

/// Runs body(i) for i in [0, instances).
template <typename Body>
void spmd(int64_t instances, bool concurrent, Body body, uint32_t processor = ~0u) {
  const StrataParts parts{processor, concurrent, 0, 0, 0, 0};
  strata_spmd([](void* context, int64_t i) { (*static_cast<Body*>(context))(i); }, &body, sizeof body, instances,
              &parts);
}

} // namespace strata::runtime
