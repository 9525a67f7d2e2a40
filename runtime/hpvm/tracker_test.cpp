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
}

TEST(Tracker, AnObjectMayBeEmpty) {
  Tracker tracker;
  EXPECT_TRUE(tracker.track(1000, 0));
  EXPECT_EQ(tracker.bytesFrom(1000), 0u);
  EXPECT_EQ(tracker.clear(), 1u);
  EXPECT_EQ(tracker.clear(), 0u);
}

} // namespace
} // namespace strata::hpvm
