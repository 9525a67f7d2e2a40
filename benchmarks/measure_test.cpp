// The statistics behind the verdicts, against tabulated values and by simulation, and the order of samples.
#include "benchmarks/measure.h"
#include "benchmarks/table.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace strata::bench {
namespace {

std::vector<double> upTo(int count) {
  std::vector<double> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

// The ranks are those of tables of the sign test: k = 1 for 6 to 8 samples, 4 for 15, 6 for 20, 10 for 30.
TEST(Estimates, UseTheRanksOfTheSignTest) {
  for (auto [count, rank] : {std::pair(6, 1), {8, 1}, {9, 2}, {15, 4}, {20, 6}, {30, 10}}) {
    Estimate result = estimate(upTo(count));
    EXPECT_EQ(result.low, rank) << count;
    EXPECT_EQ(result.high, count + 1 - rank) << count;
    EXPECT_EQ(result.median, (count + 1) / 2.0) << count;
  }
}

TEST(Estimates, OfFewSamplesSpanThemAll) {
  EXPECT_EQ(estimate({3.0}).low, 3.0);
  EXPECT_EQ(estimate({2.0, 1.0, 5.0}).low, 1.0);
  EXPECT_EQ(estimate({2.0, 1.0, 5.0}).high, 5.0);
}

TEST(Estimates, HoldTheTrueMedianNineteenTimesInTwenty) {
  std::mt19937 random(1);
  std::exponential_distribution<double> noise(1.0); // median ln 2: nothing symmetric about it
  int held = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    std::vector<double> samples(15);
    for (double& value : samples)
      value = noise(random);
    Estimate result = estimate(samples);
    held += result.low <= std::log(2.0) && std::log(2.0) <= result.high;
  }
  EXPECT_GE(held, 3800);
}

TEST(Turns, AlternateWhoGoesFirst) {
  std::string order;
  inTurn(4, {Goal::Kind::None}, [&] { return order += 'A', 1.0; }, [&] { return order += 'B', 1.0; });
  EXPECT_EQ(order, "ABBAABBA");
}

TEST(Turns, GoOnWhileTheBoundIsWithinTheInterval) {
  const auto taken = [](const Goal& goal, double ratio) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> noise(0.9, 1.1);
    return inTurn(15, goal, [] { return 1.0; }, [&] { return ratio * noise(random); }).ours.size();
  };
  EXPECT_EQ(taken({Goal::Kind::RatioAtLeast, 1}, 1), 60u);
  EXPECT_EQ(taken({Goal::Kind::RatioAtLeast, 1}, 1.3), 15u);
  EXPECT_EQ(taken({Goal::Kind::RatioAtLeast, 1}, 0.7), 15u);
  EXPECT_EQ(taken({Goal::Kind::RatioAtMost, 1}, 1), 60u);
  EXPECT_EQ(taken({Goal::Kind::OursAtMost, 1}, 1), 15u);
  EXPECT_EQ(taken({Goal::Kind::None, 1}, 1), 15u);
  const size_t some = taken({Goal::Kind::RatioAtLeast, 1}, 1.03);
  EXPECT_GT(some, 15u);
  EXPECT_LT(some, 60u);
}

TEST(Verdicts, MissOnlyWhenTheIntervalExcludesTheGoal) {
  Goal least{Goal::Kind::RatioAtLeast, 0.97}, most{Goal::Kind::RatioAtMost, 2.5};
  EXPECT_EQ(judge({0.98, 0.90, 1.10}, least), Verdict::Met);
  EXPECT_EQ(judge({0.96, 0.90, 0.97}, least), Verdict::Undecided);
  EXPECT_EQ(judge({0.96, 0.90, 0.969}, least), Verdict::Missed);
  EXPECT_EQ(judge({2.4, 2.0, 3.0}, most), Verdict::Met);
  EXPECT_EQ(judge({2.6, 2.5, 3.0}, most), Verdict::Undecided);
  EXPECT_EQ(judge({2.6, 2.51, 3.0}, most), Verdict::Missed);
}

TEST(Verdicts, AreNotGivenWithoutAGoal) {
  EXPECT_STREQ(verdictName(judge({0.1, 0.1, 0.1}, {Goal::Kind::None, 0})), "-");
  EXPECT_EQ(judged({{1.0}, {3.0}}, {Goal::Kind::None, 0}).median, 3.0);
}

TEST(Verdicts, JudgeTheRatioThatTheGoalNames) {
  Pairs pairs{{1.0, 2.0, 1.0}, {2.0, 4.0, 2.0}};
  EXPECT_EQ(judged(pairs, {Goal::Kind::RatioAtLeast, 1}).median, 2.0);
  EXPECT_EQ(judged(pairs, {Goal::Kind::RatioAtMost, 1}).median, 0.5);
  EXPECT_EQ(judged(pairs, {Goal::Kind::OursAtMost, 1}).median, 1.0);
}

TEST(Tables, ShowFiguresWithUnitsAndVerdicts) {
  Row row;
  row.work = "vector add";
  row.unit = Unit::Seconds;
  row.peer = "a loop";
  row.goal = {Goal::Kind::RatioAtLeast, 0.97};
  row.pairs = {{1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3}, {2e-3, 2e-3, 2e-3, 2e-3, 2e-3, 2e-3}};
  std::string text = tableText({row});
  EXPECT_NE(text.find("1.00 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("2.00 ms  a loop"), std::string::npos) << text;
  EXPECT_NE(text.find("2.000"), std::string::npos) << text;
  EXPECT_NE(text.find(">= 0.97"), std::string::npos) << text;
  EXPECT_NE(text.find("met"), std::string::npos) << text;
}

TEST(Tables, CountInstructions) {
  Row row;
  row.unit = Unit::Instructions;
  row.goal = {Goal::Kind::RatioAtMost, 1.1};
  row.pairs = {{105000.0}, {100000.0}};
  std::string text = tableText({row});
  EXPECT_NE(text.find("105000"), std::string::npos) << text;
  EXPECT_NE(text.find("1.050"), std::string::npos) << text;
  EXPECT_NE(text.find("met"), std::string::npos) << text;
  EXPECT_NE(tableJson({row}).find("\"unit\":\"instructions\""), std::string::npos);
}

TEST(Tables, SayWhatFailed) {
  Row row;
  row.work = "sum";
  row.failure = "results differ";
  EXPECT_NE(tableText({row}).find("failed: results differ"), std::string::npos);
  EXPECT_NE(tableJson({row}).find("\"failure\":\"results differ\""), std::string::npos);
}

} // namespace
} // namespace strata::bench
