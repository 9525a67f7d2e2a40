// The checksum's published value, and that each bit counts.
#include "runtime/array/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace strata::array {

TEST(Checksum, IsThatOfTheStandards) {
  EXPECT_EQ(checksum(""), 0u);
  EXPECT_EQ(checksum("123456789"), 0xCBF43926u);
}

TEST(Checksum, SeesEachBit) {
  const std::string sound = "a file of some bytes\xFF";
  for (size_t bit = 0; bit < 8 * sound.size(); ++bit) {
    std::string damaged = sound;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(checksum(damaged), checksum(sound)) << bit;
  }
}

} // namespace strata::array
