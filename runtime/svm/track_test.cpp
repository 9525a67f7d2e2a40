// Tracks stay small and keep what they sum up: the number of stretches and their time are exact, and stretches stay in
// order without overlapping.
#include "runtime/svm/track.h"

#include <gtest/gtest.h>

#include <random>

namespace strata::svm {
namespace {

TEST(Track, FewStretchesAreKeptAsTheyAre) {
  Track track;
  track.add(10, 20, 1, 4);
  track.add(20, 25, 2, 4);
  ASSERT_EQ(track.stretches().size(), 2u);
  EXPECT_EQ(track.stretches()[1].begin, 20);
  EXPECT_EQ(track.stretches()[1].within, 5);
  EXPECT_EQ(track.stretches()[1].what, 2u);
}

TEST(Track, ManyAreJoinedWithTheirSums) {
  std::mt19937 random(1);
  for (const size_t most : {2u, 3u, 64u, 2048u}) {
    Track track;
    int64_t now = 0, within = 0;
    const uint32_t count = 50000;
    for (uint32_t i = 0; i < count; ++i) {
      now += random() % 1000;
      const int64_t length = random() % (i % 100 == 0 ? 1000000 : 500);
      track.add(now, now + length, i % 3, most);
      now += length;
      within += length;
      ASSERT_LE(track.stretches().size(), most);
    }
    int64_t sum = 0, end = 0;
    uint64_t times = 0;
    for (const Stretch& stretch : track.stretches()) {
      EXPECT_GE(stretch.begin, end);
      EXPECT_LE(stretch.within, stretch.end - stretch.begin);
      end = stretch.end;
      sum += stretch.within;
      times += stretch.times;
    }
    EXPECT_EQ(sum, within);
    EXPECT_EQ(times, count);
    EXPECT_LE(end, now);
  }
}

TEST(Track, WhatIsJoinedOfSeveralKindsSaysSo) {
  Track track;
  for (uint32_t i = 0; i < 100; ++i)
    track.add(10 * i, 10 * i + 5, i < 50 ? 7 : 8, 4);
  for (const Stretch& stretch : track.stretches())
    EXPECT_TRUE(stretch.what == 7 || stretch.what == 8 || stretch.what == Stretch::several);
  EXPECT_LE(track.stretches().size(), 4u);
}

} // namespace
} // namespace strata::svm
