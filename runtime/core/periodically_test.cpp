// Calls come until the object goes, which does not wait for the next one.
#include "runtime/core/periodically.h"

#include "gtest/gtest.h"

#include <atomic>

namespace strata::runtime {
namespace {

TEST(Periodically, CallsUntilItGoes) {
  std::atomic<int> calls{0};
  {
    const Periodically often(std::chrono::milliseconds(1), [&] { ++calls; });
    for (int before = 0; before < 3; before = calls) // which takes as long as it takes
      std::this_thread::yield();
  }
  const int then = calls;
  {
    const Periodically never(std::chrono::hours(1), [&] { ++calls; });
  }
  EXPECT_EQ(calls, then);
}

} // namespace
} // namespace strata::runtime
