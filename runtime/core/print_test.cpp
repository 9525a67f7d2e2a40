// Output of compiled code: what formats give, and that lines come out in order whoever printed them when.
#include "runtime/core/print.h"
#include "runtime/core/testing.h"

#include <cstring>
#include <unistd.h>

namespace strata::runtime {
namespace {

int64_t bits(double value) {
  int64_t word;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

std::string format(const char* text, const std::vector<int64_t>& values = {}) {
  return formatPrint(text, values.data(), static_cast<int32_t>(values.size()));
}

TEST(Print, FormatsAreThoseOfC) {
  EXPECT_EQ(format("plain\n"), "plain\n");
  EXPECT_EQ(format("%d and %i", {-3, 7}), "-3 and 7");
  EXPECT_EQ(format("[%5d|%-5d|%05d]", {42, 42, 42}), "[   42|42   |00042]");
  EXPECT_EQ(format("%x %u %c", {255, 8, 'A'}), "ff 8 A");
  EXPECT_EQ(format("%.2f %e %g", {bits(1.5), bits(2.0), bits(0.25)}), "1.50 2.000000e+00 0.25");
  EXPECT_EQ(format("100%%"), "100%");
  EXPECT_EQ(format("%d", {INT64_MIN}), "-9223372036854775808");
}

TEST(Print, ALongNumberIsWhole) {
  EXPECT_EQ(format("%.999f", {bits(-1e308)}).size(), 1 + 309 + 1 + 999);
  EXPECT_EQ(format("%999d", {1}).size(), 999);
}

TEST(Print, AMissingValueIsZeroAndABrokenFormatEnds) {
  EXPECT_EQ(format("%d"), "0");
  EXPECT_EQ(format("a%"), "a");
  EXPECT_EQ(format("a%5"), "a");
}

struct PrintOrder : WithThreads {};
STRATA_WITH_THREADS(PrintOrder);

TEST_P(PrintOrder, LinesComeOutByNumberWhoeverPrintsThem) {
  testing::internal::CaptureStdout();
  strata_print_begin();
  const int64_t first = -1;
  strata_print(first, "begin\n", nullptr, 0);
  spmd(200, true, [](int64_t i) {
    const int64_t number = 199 - i;
    strata_print(number, "%d ", &number, 1);
    strata_yield();
    strata_print(number, "again\n", nullptr, 0);
  });
  strata_print_end();
  std::string expected = "begin\n";
  for (int i = 0; i < 200; ++i)
    expected += std::to_string(i) + " again\n";
  EXPECT_EQ(testing::internal::GetCapturedStdout(), expected);
}

TEST_P(PrintOrder, AnEntryPointWithinAnotherPrintsIntoTheOuterOne) {
  testing::internal::CaptureStdout();
  strata_print_begin();
  strata_print(2, "outer\n", nullptr, 0);
  strata_print_begin();
  strata_print(1, "inner\n", nullptr, 0);
  strata_print_end();
  strata_print_end();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "inner\nouter\n");
}

TEST_P(PrintOrder, WhatIsSwitchedOffPrintsNothing) {
  testing::internal::CaptureStdout();
  setPrinting(false);
  strata_print_begin();
  strata_print(0, "no\n", nullptr, 0);
  strata_print_end();
  setPrinting(true);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST_P(PrintOrder, AFailureLetsOutWhatWasPrinted) {
  const StrataCheck check = {"a-code", "it failed", nullptr, nullptr, 0, 0};
  const auto run = [&] {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    strata_print_begin();
    strata_print(0, "this far\n", nullptr, 0);
    strata_fail(&check, nullptr, 0);
  };
  EXPECT_DEATH(run(), "this far\n.*it failed");
}

} // namespace
} // namespace strata::runtime
