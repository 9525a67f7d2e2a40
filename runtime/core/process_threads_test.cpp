// Threads are counted while others begin and end.
#include "runtime/core/process_threads.h"

#include <atomic>
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

namespace strata::runtime {
namespace {

TEST(ProcessThreads, AreCounted) {
  const uint32_t before = countThreads().value_or(0);
  EXPECT_GE(before, 1U);
  std::atomic<bool> ends{false};
  std::thread more([&] {
    while (!ends)
      sched_yield();
  });
  EXPECT_EQ(countThreads(), before + 1);
  ends = true;
  more.join();
}

// Without care one list in some hundreds lacks a thread that is there.
TEST(ProcessThreads, AreNotMissedWhileOthersEnd) {
  const uint32_t least = countThreads().value_or(0) + 1;
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int> go{0};
    std::thread ending[3];
    for (std::thread& each : ending)
      each = std::thread([&] {
        ++go;
        while (go < 3)
          sched_yield();
      });
    std::thread late([&] {
      while (go < 4)
        sched_yield();
    });
    while (go < 3)
      sched_yield();
    if (const std::optional<uint32_t> count = countThreads()) {
      ASSERT_GE(*count, least) << "round " << round;
    }
    go = 4;
    for (std::thread& each : ending)
      each.join();
    late.join();
  }
}

} // namespace
} // namespace strata::runtime
