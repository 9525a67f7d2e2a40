// Registers of values within an iteration: known answers, random problems against an enumeration of all colourings, and
// broken allocations that must be caught.
#include "compiler/target/array/registers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace strata::array {
namespace {

RegisterAllocation allocated(const RegisterProblem& problem) {
  uint32_t needed = 0;
  const std::optional<RegisterAllocation> allocation = solve(problem, needed);
  if (!allocation) {
    ADD_FAILURE() << problem.check() << ", needed: " << needed;
    return {};
  }
  EXPECT_EQ(verify(problem, *allocation), "");
  EXPECT_EQ(allocation->lowerBound, needed);
  return *allocation;
}

TEST(Registers, NoValuesNeedNone) {
  EXPECT_EQ(allocated({4, 0, {}, {}}).used, 0u);
}

TEST(Registers, ValuesOneAfterTheOtherShareOne) {
  EXPECT_EQ(allocated({6, 8, {{"a", 0, 2}, {"b", 2, 3}, {"c", 5, 1}}, {}}).used, 1u);
  // What begins in later intervals or earlier ones takes the same cycles.
  EXPECT_EQ(allocated({6, 8, {{"a", 12, 2}, {"b", -4, 3}, {"c", 5, 1}}, {}}).used, 1u);
  EXPECT_EQ(allocated({6, 8, {{"a", 4, 4}, {"b", 1, 2}}, {}}).used, 2u);
}

TEST(Registers, ArcsTakeMoreThanMeetAnywhere) {
  // Two live in each cycle, but each of the three meets the other two.
  const RegisterProblem problem{3, 8, {{"a", 0, 2}, {"b", 1, 2}, {"c", 2, 2}}, {}};
  EXPECT_EQ(allocated(problem).used, 3u);
  // Five in a circle: an odd one takes a third register, which no clique says.
  const RegisterProblem ring{5, 8, {{"a", 0, 2}, {"b", 1, 2}, {"c", 2, 2}, {"d", 3, 2}, {"e", 4, 2}}, {}};
  EXPECT_EQ(allocated(ring).used, 3u);
  EXPECT_EQ(allocated(ring).lowerBound, 3u);
}

TEST(Registers, CompatibleValuesShare) {
  EXPECT_EQ(allocated({3, 8, {{"a", 0, 3}, {"b", 0, 3}, {"c", 1, 2}}, {{0, 1}}}).used, 2u);
  EXPECT_EQ(allocated({3, 8, {{"a", 0, 3}, {"b", 0, 3}, {"c", 1, 2}}, {{0, 1}, {1, 2}, {2, 0}}}).used, 1u);
}

TEST(Registers, TooFewAreCounted) {
  uint32_t needed = 0;
  EXPECT_FALSE(solve({3, 2, {{"a", 0, 2}, {"b", 1, 2}, {"c", 2, 2}}, {}}, needed));
  EXPECT_EQ(needed, 3u);
  EXPECT_FALSE(solve({3, 2, {{"a", 0, 4}}, {}}, needed));
  EXPECT_EQ(needed, 0u);
}

TEST(Registers, MeaninglessProblemsAreRefused) {
  const RegisterProblem good{3, 2, {{"a", 0, 3}, {"b", 0, 3}}, {{0, 1}}};
  EXPECT_EQ(good.check(), "");
  const auto wrong = [&](const std::function<void(RegisterProblem&)>& change) {
    RegisterProblem problem = good;
    change(problem);
    EXPECT_NE(problem.check(), "");
    EXPECT_NE(verify(problem, {{0, 1}, 2, 1}), "");
  };
  wrong([](RegisterProblem& problem) { problem.interval = 0; });
  wrong([](RegisterProblem& problem) { problem.values[0].cycles = 4; });
  wrong([](RegisterProblem& problem) { problem.values[0].cycles = 0; });
  wrong([](RegisterProblem& problem) { problem.values[0].first = INT64_MIN; });
  wrong([](RegisterProblem& problem) { problem.compatible[0] = {0, 2}; });
  wrong([](RegisterProblem& problem) { problem.compatible[0] = {1, 1}; });
}

TEST(Registers, VerifyCatchesWhatIsBroken) {
  const RegisterProblem problem{4, 3, {{"a", 3, 2}, {"b", 1, 2}, {"c", 0, 4}, {"d", 0, 1}}, {{2, 3}}};
  const RegisterAllocation good{{0, 0, 1, 1}, 2, 2};
  ASSERT_EQ(verify(problem, good), "");
  const auto broken = [&](const std::function<void(RegisterAllocation&)>& change) {
    RegisterAllocation allocation = good;
    change(allocation);
    return verify(problem, allocation);
  };
  EXPECT_EQ(broken([](RegisterAllocation& a) { a.registers.pop_back(); }), "3 registers for 4 values");
  EXPECT_EQ(broken([](RegisterAllocation& a) { a.used = 4; }), "4 registers are used, there are 3");
  EXPECT_EQ(broken([](RegisterAllocation& a) { a.used = 3; }), "2 registers are used and not 3");
  EXPECT_EQ(broken([](RegisterAllocation& a) { a.lowerBound = 3; }), "2 registers are used and the lower bound is 3");
  EXPECT_EQ(broken([](RegisterAllocation& a) { a.registers[2] = 2; }), "value 'c' is in register 2, 2 are used");
  EXPECT_EQ(broken([](RegisterAllocation& a) { a.registers[3] = 0; }),
            "values 'a' and 'd' are both alive in register 0");
  EXPECT_EQ(broken([](RegisterAllocation& a) { a.registers[1] = 1; }),
            "values 'b' and 'c' are both alive in register 1");
}

RegisterProblem randomProblemOfValues(std::mt19937& engine, size_t count) {
  const auto random = [&](int64_t first, int64_t last) {
    return first + static_cast<int64_t>(engine() % static_cast<uint64_t>(last - first + 1));
  };
  RegisterProblem problem{random(2, 8), static_cast<uint32_t>(count), {}, {}};
  for (size_t i = 0; i < count; ++i)
    problem.values.push_back({"v" + std::to_string(i), random(-3, 12), random(1, problem.interval)});
  for (int64_t i = random(0, 3); i > 0; --i) {
    const auto last = static_cast<int64_t>(count) - 1;
    const auto a = static_cast<uint32_t>(random(0, last)), b = static_cast<uint32_t>(random(0, last));
    if (a != b)
      problem.compatible.emplace_back(a, b);
  }
  return problem;
}

/// The fewest registers, of all ways to put values into registers that no value before is in, or one of theirs.
uint32_t fewest(const RegisterProblem& problem, RegisterAllocation part = {}) {
  const size_t at = part.registers.size();
  RegisterProblem known = problem;
  known.values.resize(at);
  std::erase_if(known.compatible, [&](const auto& each) { return std::max(each.first, each.second) >= at; });
  if (!verify(known, part).empty())
    return UINT32_MAX;
  if (at == problem.values.size())
    return part.used;
  uint32_t least = UINT32_MAX;
  for (uint32_t i = 0; i <= part.used; ++i) {
    RegisterAllocation next = part;
    next.registers.push_back(i);
    next.used = std::max(part.used, i + 1);
    least = std::min(least, fewest(problem, next));
  }
  return least;
}

TEST(Registers, TinyOnesAreThoseThatAnEnumerationFinds) {
  std::mt19937 engine(1);
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    const RegisterProblem problem = randomProblemOfValues(engine, 1 + engine() % 6);
    const RegisterAllocation allocation = allocated(problem);
    EXPECT_EQ(allocation.used, fewest(problem));
    EXPECT_EQ(allocation.lowerBound, allocation.used);
  }
}

TEST(Registers, LargerOnesHold) {
  std::mt19937 engine(2);
  for (int i = 0; i < 30; ++i) {
    const RegisterProblem problem = randomProblemOfValues(engine, 40);
    const RegisterAllocation allocation = allocated(problem);
    EXPECT_EQ(allocation.lowerBound, allocation.used);
    EXPECT_EQ(allocated(problem).registers, allocation.registers);
  }
}

} // namespace
} // namespace strata::array
