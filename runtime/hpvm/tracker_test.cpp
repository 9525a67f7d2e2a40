// Objects are found by their beginnings, and by addresses within them.
#include "runtime/hpvm/tracker.h"

#include <gtest/gtest.h>

namespace strata::hpvm {
namespace {

TEST(Tracker, KnowsObjectsByTheirBeginnings) {
  Tracker tracker;
  EXPECT_TRUE(tracker.track(1000, 64));
  EXPECT_FALSE(tracker.track(1000, 8));
  EXPECT_EQ(tracker.objectAt(1000), 64u);
  EXPECT_EQ(tracker.objectAt(1001), std::nullopt);
  EXPECT_TRUE(tracker.untrack(1000));
  EXPECT_FALSE(tracker.untrack(1000));
  EXPECT_EQ(tracker.objectAt(1000), std::nullopt);
}

TEST(Tracker, AnAddressWithinCountsToTheEnd) {
  Tracker tracker;
  tracker.track(1000, 64);
  EXPECT_EQ(tracker.bytesFrom(1000), 64u);
  EXPECT_EQ(tracker.bytesFrom(1063), 1u);
  EXPECT_EQ(tracker.bytesFrom(1064), std::nullopt);
  EXPECT_EQ(tracker.bytesFrom(999), std::nullopt);
}

TEST(Tracker, OfObjectsThatOverlapTheOneThatReachesFurthestCounts) {
  Tracker tracker;
  tracker.track(1000, 100);
  tracker.track(1010, 10);
  EXPECT_EQ(tracker.bytesFrom(1015), 85u);
  EXPECT_EQ(tracker.bytesFrom(1050), 50u);
  ASSERT_TRUE(tracker.objectOf(1015));
  EXPECT_EQ(tracker.objectOf(1015)->begin, 1000u);
  EXPECT_EQ(tracker.objectOf(1015)->bytes, 100u);
  EXPECT_FALSE(tracker.objectOf(1100));
}

TEST(Tracker, AnObjectMayBeEmpty) {
  Tracker tracker;
  EXPECT_TRUE(tracker.track(1000, 0));
  EXPECT_EQ(tracker.bytesFrom(1000), 0u);
  EXPECT_EQ(tracker.clear(), 1u);
  EXPECT_EQ(tracker.clear(), 0u);
}

template <typename T>
uintptr_t addressOf(T* at) {
  return reinterpret_cast<uintptr_t>(at);
}

TEST(Tracker, ACopyHasTheHostsValuesUntilAGraphWritesIt) {
  Tracker tracker;
  int host[4] = {1, 2, 3, 4};
  tracker.track(addressOf(host), sizeof host);
  EXPECT_EQ(tracker.give(addressOf(host) + sizeof host, false), 0u);
  auto* copy = reinterpret_cast<int*>(tracker.give(addressOf(host + 1), false));
  ASSERT_NE(copy, host + 1);
  EXPECT_EQ(*copy, 2);
  host[1] = 20;
  EXPECT_EQ(reinterpret_cast<int*>(tracker.give(addressOf(host + 1), true)), copy);
  EXPECT_EQ(*copy, 20);
  *copy = 200;
  host[1] = 7; // lost: the values are with the graphs
  EXPECT_EQ(*reinterpret_cast<int*>(tracker.give(addressOf(host + 1), false)), 200);
  EXPECT_EQ(host[1], 7);
  EXPECT_TRUE(tracker.request(addressOf(host)));
  EXPECT_FALSE(tracker.request(addressOf(host + 1)));
  EXPECT_EQ(host[1], 200);
  EXPECT_EQ(tracker.hostAddress(addressOf(copy + 1)), addressOf(host + 2));
  EXPECT_EQ(tracker.hostAddress(addressOf(&tracker)), addressOf(&tracker));
}

TEST(Tracker, ACopyLiesInALineAsItsObjectDoes) {
  Tracker tracker;
  alignas(64) char host[128];
  tracker.track(addressOf(host + 24), 0);
  EXPECT_EQ(tracker.give(addressOf(host + 24), false) % 64, 24u);
}

TEST(Tracker, ObjectsMayShareBytes) {
  Tracker tracker;
  tracker.track(1000, 100);
  EXPECT_EQ(tracker.overlapping(1000, 100), std::nullopt);
  EXPECT_EQ(tracker.overlapping(1099, 10), std::optional<uintptr_t>(1000));
  EXPECT_EQ(tracker.overlapping(1100, 10), std::nullopt);
}

} // namespace
} // namespace strata::hpvm
