// Names with numbers in the order of the numbers.
#include "base/source/natural_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace strata {
namespace {

TEST(NaturalOrder, NumbersCountByValue) {
  std::vector<std::string> names{"spe 10",
                                 "spe 2",
                                 "",
                                 "spe",
                                 "spe 02",
                                 "a10b2",
                                 "a10b10",
                                 "a9b99",
                                 "10",
                                 "9",
                                 "spe 2x",
                                 "99999999999999999999999",
                                 "100000000000000000000000"};
  std::sort(names.begin(), names.end(), naturalLess);
  EXPECT_EQ(names,
            (std::vector<std::string>{"", "9", "10", "99999999999999999999999", "100000000000000000000000", "a9b99",
                                      "a10b2", "a10b10", "spe", "spe 02", "spe 2", "spe 2x", "spe 10"}));
}

TEST(NaturalOrder, IsAStrictTotalOrder) {
  std::mt19937 random(7);
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) {
    std::string name;
    for (unsigned n = random() % 5; n; --n)
      name += "019a "[random() % 5];
    names.push_back(name);
  }
  for (const std::string& a : names)
    for (const std::string& b : names) {
      EXPECT_EQ(naturalLess(a, b) + naturalLess(b, a), a == b ? 0 : 1) << a << "|" << b;
      for (const std::string& c : names)
        if (naturalLess(a, b) && naturalLess(b, c))
          EXPECT_TRUE(naturalLess(a, c)) << a << "|" << b << "|" << c;
    }
}

} // namespace
} // namespace strata
