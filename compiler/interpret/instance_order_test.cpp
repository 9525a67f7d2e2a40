// Vector clocks by themselves.
#include "compiler/interpret/instance_order.h"

#include <gtest/gtest.h>

namespace strata::interpret {
namespace {

TEST(Clock, JoinTakesTheLaterPointOfEach) {
  Clock a, b;
  a.raise(3, 5);
  a.raise(200, 1);
  b.raise(3, 2);
  b.raise(70, 9);
  a.join(b);
  EXPECT_EQ(a.at(3), 5u);
  EXPECT_EQ(a.at(70), 9u);
  EXPECT_EQ(a.at(200), 1u);
  EXPECT_EQ(a.at(1000), 0u);
  EXPECT_EQ(b.at(200), 0u); // pieces that were shared are not written
}

TEST(InstanceOrder, KnowledgeIsHandedOnThroughThousands) {
  constexpr uint32_t count = 8192;
  InstanceOrder order;
  order.begin();
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < count; ++i)
    all.push_back(order.add(i));
  std::vector<uint32_t> data, flag;
  for (uint32_t i = 0; i < count; ++i) {
    if (i) {
      order.observe(all[i], {0, i - 1}, all[i - 1], flag[i - 1]);
      order.fence(all[i]);
    }
    data.push_back(order.writePoint(all[i]));
    order.fence(all[i]);
    flag.push_back(order.writePoint(all[i]));
  }
  for (uint32_t i = 0; i + 1 < count; i += 97) {
    EXPECT_TRUE(order.isBefore(all[i], data[i], all[count - 1])) << i;
    EXPECT_FALSE(order.isBefore(all[count - 1], data[count - 1], all[i])) << i;
  }
}

TEST(InstanceOrder, AnEarlierLoopIsBefore) {
  InstanceOrder order;
  order.begin();
  uint32_t first = order.add(0);
  uint32_t point = order.writePoint(first);
  order.begin();
  uint32_t second = order.add(0);
  EXPECT_FALSE(order.isLive(first));
  EXPECT_TRUE(order.isBefore(first, point, second));
}

} // namespace
} // namespace strata::interpret
