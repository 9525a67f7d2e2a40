// Transfers between the host's memory and the banks: blocks, and the cycles in which the array stands still, against
// counting by hand.
#include "runtime/array/simulate_test_support.h"
#include "runtime/array/transfers.h"

namespace strata::array::test {
namespace {

using machine::Side;

/// One element, a tile of 4 x 8 iterations, one every 2 cycles, with a bank for each array; no programs.
class Transfers : public testing::Test {
protected:
  Transfers() {
    configuration.interval = 2;
    configuration.loops = {"i", "j"};
    configuration.extents = {4, 8};
    configuration.inputs = {{"a", Type::Float32, {4, 8}}};
    configuration.outputs = {{"b", Type::Float32, {4, 8}}};
    Bank bank;
    bank.enable = {{{0, 4}, {0, 8}}};
    bank.strides = {8, 1};
    bank.block = {{0, 4}, {0, 8}};
    configuration.banks = {bank, bank};
    configuration.banks[1].isOutput = true;
    configuration.banks[1].index = 1;
    configuration.banks[1].start = 5;
  }
  /// Rows of both arrays pass the banks one by one.
  void rows() {
    for (Bank& bank : configuration.banks) {
      bank.blockLoops = 1;
      bank.held = {1, 8};
    }
  }
  TransferTimes times(uint64_t bytes, uint64_t cycles, int64_t latency) {
    const auto made = transferTimes(configuration, {latency, {bytes, cycles}}, 5 + 2 * 31 + 1);
    EXPECT_TRUE(made.has_value());
    return made.value_or(TransferTimes{});
  }
  Configuration configuration;
};

TEST_F(Transfers, WholeArraysAreFilledBeforeAndEmptiedAfter) {
  const TransferTimes made = times(4, 1, 10);
  EXPECT_EQ(made.blocks, 2);
  EXPECT_EQ(made.linkCycles, 64);
  EXPECT_EQ(made.filling, 32 + 10);
  EXPECT_EQ(made.waiting, 0);
  // The last word comes in cycle 67 and all of them leave from cycle 68 on.
  EXPECT_EQ(made.emptying, 32 + 10);
}

TEST_F(Transfers, BlocksAreTheIterationsOfOuterLoops) {
  rows();
  const auto uses = blockUses(configuration, configuration.banks[1]);
  ASSERT_TRUE(uses.has_value());
  ASSERT_EQ(uses->size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ((*uses)[i].first, 5 + 16 * static_cast<int64_t>(i));
    EXPECT_EQ((*uses)[i].last, 5 + 16 * static_cast<int64_t>(i) + 14);
    EXPECT_EQ((*uses)[i].words, 8);
  }
  // What is not accessed makes no block, and a block holds no more than what is accessed.
  configuration.banks[1].enable = {{{1, 2}, {0, 3}}, {{1, 2}, {4, 8}}, {{3, 4}, {2, 3}}};
  const auto some = blockUses(configuration, configuration.banks[1]);
  ASSERT_EQ(some->size(), 2u);
  EXPECT_EQ((*some)[0].words, 7);
  EXPECT_EQ((*some)[0].last, 5 + 2 * (8 + 7));
  EXPECT_EQ((*some)[1].words, 1);
  EXPECT_EQ((*some)[1].first, (*some)[1].last);
  EXPECT_EQ(transferredWords(configuration, configuration.banks[1]), 8);
  // In the order of their iterations, whatever that of the boxes.
  configuration.banks[1].enable = {{{2, 4}, {0, 3}}, {{0, 3}, {4, 8}}};
  const auto both = blockUses(configuration, configuration.banks[1]);
  ASSERT_EQ(both->size(), 4u);
  for (const auto& [block, first, last, words] :
       {std::tuple(0, 4, 7, 4), std::tuple(1, 4, 7, 4), std::tuple(2, 0, 7, 7), std::tuple(3, 0, 2, 3)}) {
    EXPECT_EQ((*both)[block].first, 5 + 2 * (8 * block + first));
    EXPECT_EQ((*both)[block].last, 5 + 2 * (8 * block + last));
    EXPECT_EQ((*both)[block].words, words);
  }
}

TEST_F(Transfers, FastLinksOverlapAllButTheEnds) {
  rows();
  const TransferTimes made = times(8, 1, 0); // a row takes 4 cycles, and is computed in 16
  EXPECT_EQ(made.blocks, 8);
  EXPECT_EQ(made.linkCycles, 32);
  EXPECT_EQ(made.filling, 4);
  EXPECT_EQ(made.waiting, 0);
  EXPECT_EQ(made.emptying, 4);
}

TEST_F(Transfers, SlowLinksMakeTheArrayWait) {
  configuration.banks.pop_back();
  rows();
  // A row takes 32 cycles and is computed in 16. Rows 0 and 1 come one after the other; row 2 may come when row 0 is
  // done with.
  const TransferTimes made = times(1, 1, 0);
  EXPECT_EQ(made.filling, 32);
  // Row 1 is there at 64, and needed at 32 + 16. Row 2 begins at 64 and is there at 96, needed at 80; row 3 likewise.
  EXPECT_EQ(made.waiting, 16 + 16 + 16);
  EXPECT_EQ(made.emptying, 0);
  EXPECT_EQ(made.linkCycles, 128);
}

TEST_F(Transfers, LinksWithoutFiguresTakeNoTime) {
  rows();
  const auto made = transferTimes(configuration, {}, 68);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->linkCycles + made->filling + made->waiting + made->emptying, 0);
}

TEST_F(Transfers, TooManyBlocksHaveNoTimes) {
  configuration.extents = {int64_t{1} << 23, 2};
  configuration.inputs[0].extents = configuration.outputs[0].extents = {int64_t{1} << 23, 2};
  for (Bank& bank : configuration.banks) {
    bank.enable = {{{0, int64_t{1} << 23}, {0, 2}}};
    bank.strides = {2, 1};
    bank.block = {{0, int64_t{1} << 23}, {0, 2}};
  }
  rows();
  EXPECT_FALSE(blockUses(configuration, configuration.banks[0]).has_value());
  EXPECT_FALSE(transferTimes(configuration, {}, 1).has_value());
  EXPECT_EQ(transferredWords(configuration, configuration.banks[0]), int64_t{1} << 24);
}

// ---- The simulator holds banks to what they say ----

class BlocksOfBanks : public Simulated {};

TEST_F(BlocksOfBanks, AreEnforced) {
  Bank& bank = configuration.banks[0];
  bank.blockLoops = 1;
  bank.held = {1};
  expectRight();
  EXPECT_EQ(statistics.wordsEmptied, 16);
  array.borders[static_cast<size_t>(Side::South)].capacity = 20; // one word of each of two blocks, where six are 24
  configuration.banks[1].blockLoops = configuration.banks[2].blockLoops = 1;
  configuration.banks[1].held = configuration.banks[2].held = {1};
  expectRight();
  bank.held = {};
  expect("bank south1 of column 0: blocks of the wrong dimension");
  bank.held = {7};
  expect("bank south1 of column 0: it holds 7 elements of 6");
  bank.held = {3};
  expect("bank south1 of column 0: it holds 24 bytes, its capacity is 20");
  bank.held = {1};
  bank.strides = {0};
  bank.blockLoops = 0;
  bank.held = {};
  expect("bank south1 of column 0: it holds 24 bytes, its capacity is 20");
}

} // namespace
} // namespace strata::array::test
