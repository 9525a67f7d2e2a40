// Quantities as people write them, and that what is written reads back.
#include "base/machine/quantity.h"

#include <gtest/gtest.h>

namespace strata::machine {
namespace {

TEST(Quantity, SizesTakeBinaryUnits) {
  EXPECT_EQ(parseSize("0"), 0u);
  EXPECT_EQ(parseSize("100"), 100u);
  EXPECT_EQ(parseSize("8B"), 8u);
  EXPECT_EQ(parseSize("256K"), 262144u);
  EXPECT_EQ(parseSize("256 KiB"), 262144u);
  EXPECT_EQ(parseSize("8G"), 8589934592u);
  EXPECT_EQ(parseSize("16T"), 17592186044416u);
  for (const char* text :
       {"", "K", "-1", "+1", "1.5K", "1k", "1 Q", "1KB", "18446744073709551616", "16777216T", "0x10"})
    EXPECT_EQ(parseSize(text), std::nullopt) << text;
}

TEST(Quantity, ClocksTakeExactDecimals) {
  EXPECT_EQ(parseClock("3.2GHz"), 3200000000u);
  EXPECT_EQ(parseClock("800 MHz"), 800000000u);
  EXPECT_EQ(parseClock("0.5Hz"), std::nullopt); // no whole number of hertz
  EXPECT_EQ(parseClock("1.0000000001GHz"), std::nullopt);
  for (const char* text : {"", "GHz", "3.GHz", "3", "3 ghz", "99999999999GHz"})
    EXPECT_EQ(parseClock(text), std::nullopt) << text;
}

TEST(Quantity, BandwidthsAreFractions) {
  EXPECT_EQ(parseBandwidth("8"), (Bandwidth{8, 1}));
  EXPECT_EQ(parseBandwidth("1/4"), (Bandwidth{1, 4}));
  EXPECT_EQ(parseBandwidth("2K / 3"), (Bandwidth{2048, 3}));
  for (const char* text : {"", "/", "1/", "/2", "1/2/3", "a"})
    EXPECT_EQ(parseBandwidth(text), std::nullopt) << text;
}

TEST(Quantity, TransfersTakeWholeCycles) {
  EXPECT_EQ((Bandwidth{8, 1}).cyclesFor(17), 3u);
  EXPECT_EQ((Bandwidth{1, 4}).cyclesFor(3), 12u);
  EXPECT_EQ((Bandwidth{}).cyclesFor(1000), 0u);
  EXPECT_EQ((Bandwidth{1, ~uint64_t(0)}).cyclesFor(~uint64_t(0)), ~uint64_t(0));
}

TEST(Quantity, CapacitiesCanBeOpen) {
  EXPECT_EQ(parseCapacity("available"), Capacity::available());
  EXPECT_EQ(parseCapacity("unknown"), Capacity());
  EXPECT_EQ(parseCapacity("4K"), Capacity::of(4096));
  EXPECT_EQ(parseCapacity("lots"), std::nullopt);
  EXPECT_TRUE(Capacity::of(100).exceededBy(101));
  EXPECT_FALSE(Capacity::of(100).exceededBy(100));
  EXPECT_FALSE(Capacity::available().exceededBy(~uint64_t(0)));
}

TEST(Quantity, PortsAndAdjacencies) {
  EXPECT_EQ(parsePort("east3"), (Port{Side::East, 3}));
  EXPECT_EQ(parseAdjacency("element0->north1"), (Adjacency{{Side::Element, 0}, {Side::North, 1}}));
  for (const char* text : {"", "east", "up0", "east-1", "east99999999"})
    EXPECT_EQ(parsePort(text), std::nullopt) << text;
  for (const char* text : {"", "east0", "east0 <- west0", "east0 ->", "-> east0"})
    EXPECT_EQ(parseAdjacency(text), std::nullopt) << text;
}

TEST(Quantity, WhatIsWrittenReadsBack) {
  for (uint64_t value : {uint64_t(0), uint64_t(1), uint64_t(1000), uint64_t(1024), uint64_t(1536), uint64_t(1) << 40,
                         ~uint64_t(0), uint64_t(3200000000)}) {
    EXPECT_EQ(parseSize(formatSize(value)), value);
    EXPECT_EQ(parseClock(formatClock(value)), value);
    EXPECT_EQ(parseBandwidth(formatBandwidth({value, 7})), (Bandwidth{value, 7}));
  }
  EXPECT_EQ(formatSize(262144), "256K");
  EXPECT_EQ(formatClock(3200000000), "3200MHz");
  const Adjacency adjacency{{Side::West, 1}, {Side::Element, 2}};
  EXPECT_EQ(parseAdjacency(formatAdjacency(adjacency)), adjacency);
}

} // namespace
} // namespace strata::machine
