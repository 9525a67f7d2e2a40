// Addresses that mean the same on every rank: what is reserved lies where it says, what is given back is given again,
// and memory of it is new then.
#include "runtime/cluster/addresses.h"

#include "gtest/gtest.h"

#include <cstring>
#include <set>

namespace strata::cluster {
namespace {

TEST(Addresses, AreGivenAgain) {
#ifdef STRATA_THREAD_SANITIZER
  GTEST_SKIP()
      << "the thread sanitizer keeps its own memory at these addresses, so no program that it watches has them";
#endif
  Addresses addresses(runtime::systemMemory(), /*isHome=*/true);
  ASSERT_TRUE(addresses.reserveStretches());
  EXPECT_FALSE(Addresses(runtime::systemMemory(), true).reserveStretches()) << "they are in use";
  auto* first = static_cast<char*>(addresses.map(10000));
  ASSERT_TRUE(Addresses::home().has(first));
  std::memset(first, 1, 10000);
  auto* second = static_cast<char*>(addresses.map(10000));
  EXPECT_GE(second, first + 10000);
  addresses.unmap(first, 10000);
  auto* again = static_cast<char*>(addresses.map(10000));
  EXPECT_EQ(again, first);
  EXPECT_EQ(again[9999], 0);
  // More than there are addresses, bit by bit.
  std::set<void*> windows;
  for (int round = 0; round < 5000; ++round) {
    void* window = addresses.reserve(size_t(2) << 30);
    ASSERT_TRUE(window && Addresses::windows().has(window)) << round;
    windows.insert(window);
    addresses.unmap(window, size_t(2) << 30);
  }
  EXPECT_EQ(windows.size(), 1u);
  EXPECT_TRUE(Addresses::stores().has(addresses.reserveAlike(1 << 20)));
  EXPECT_EQ(addresses.reserve(Addresses::windows().bytes), nullptr) << "some of them are used";
  EXPECT_EQ(addresses.reserve(SIZE_MAX), nullptr);
}

} // namespace
} // namespace strata::cluster
