// Blocks of programs as the printed configuration shows them, and sets of iterations as boxes, against each iteration.
#include "runtime/array/blocks.h"
#include "runtime/array/simulate_test_support.h"

#include <gtest/gtest.h>

#include <random>

namespace strata::array::test {
namespace {

TEST(Blocks, TheRunningExample) {
  const Configuration configuration = bits();
  const auto blocks = blocksOf(configuration, configuration.classes[0].programs[0]);
  ASSERT_TRUE(blocks);
  ASSERT_EQ(blocks->size(), 3u);
  const ProgramBlock& loop = blocks->at(2);
  EXPECT_EQ(loop.iterations, (std::vector<Range>{{1, 6}}));
  ASSERT_EQ(loop.leaves.size(), 2u);
  EXPECT_EQ(loop.leaves.at(2), (std::vector<Range>{{1, 5}}));
  EXPECT_EQ(loop.leaves.at(4), (std::vector<Range>{{5, 6}}));
}

TEST(Blocks, WhatComesAfterTheLastIteration) {
  const Program program = {nop(jump(0))};
  const auto blocks = blocksOf(alone(bitsArray(), program, 7), program);
  ASSERT_TRUE(blocks && blocks->size() == 1);
  EXPECT_EQ(blocks->at(0).iterations, (std::vector<Range>{{0, 7}}));
  EXPECT_TRUE(blocks->at(0).isBehind);
}

TEST(Blocks, ProgramsThatGoNowhere) {
  Configuration configuration = bits();
  EXPECT_TRUE(blocksOf(configuration, {})->empty());
  EXPECT_FALSE(blocksOf(configuration, {compute(Opcode::Move, {number(1)}, {general(0)})}));
  EXPECT_FALSE(blocksOf(configuration, {nop(), nop(choose(99, 0, 0))}));
  EXPECT_FALSE(blocksOf(configuration, {nop(), nop({Branch::Kind::If, {0}, {0}})}));
  configuration.extents = {mostFollowed + 1};
  EXPECT_FALSE(blocksOf(configuration, configuration.classes[0].programs[0]));
}

TEST(Blocks, BoxesAreTheirIterations) {
  std::mt19937_64 random(1);
  const std::vector<std::vector<int64_t>> all = {{17}, {4, 5}, {3, 1, 4}, {2, 3, 2, 3}};
  for (int round = 0; round < 2000; ++round) {
    const std::vector<int64_t>& extents = all[static_cast<size_t>(round) % all.size()];
    int64_t count = 1;
    for (const int64_t extent : extents)
      count *= extent;
    std::vector<bool> wanted, found(static_cast<size_t>(count), false);
    std::vector<Range> runs;
    for (int64_t n = 0; n < count; ++n) {
      wanted.push_back(random() % 3 != 0);
      if (wanted.back() && !runs.empty() && runs.back().end == n)
        ++runs.back().end;
      else if (wanted.back())
        runs.push_back({n, n + 1});
    }
    const std::optional<std::vector<Box>> boxes = boxesOf(runs, extents, 1000);
    ASSERT_TRUE(boxes);
    for (const Box& box : *boxes)
      for (int64_t n = 0; n < count; ++n) {
        int64_t rest = n;
        bool isInside = true;
        for (size_t l = extents.size(); l-- > 0; rest /= extents[l])
          isInside &= box[l].first <= rest % extents[l] && rest % extents[l] < box[l].end;
        if (isInside) {
          EXPECT_FALSE(found[static_cast<size_t>(n)]);
          found[static_cast<size_t>(n)] = true;
        }
      }
    ASSERT_EQ(found, wanted);
    EXPECT_FALSE(boxes->size() > 1 && boxesOf(runs, extents, boxes->size() - 1));
  }
  EXPECT_EQ(boxesOf({{0, 20}}, {4, 5}, 1), (std::vector<Box>{{{0, 4}, {0, 5}}}));
  EXPECT_EQ(boxesOf({{5, 15}}, {4, 5}, 1), (std::vector<Box>{{{1, 3}, {0, 5}}}));
}

} // namespace
} // namespace strata::array::test
