// Modulo schedules: known answers, random problems against an enumeration of all schedules, and broken schedules that
// must be caught.
#include "compiler/target/array/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace strata::array {
namespace {

ScheduleProblem::Operation on(const std::string& name, uint32_t unit, int64_t busy = 1, int64_t latency = 1) {
  return {name, {{unit, busy, latency}}};
}

/// `to` reads what `from` wrote, some iterations ago.
ScheduleProblem::Constraint reads(uint32_t from, uint32_t to, int64_t iterations = 0) {
  return {from, to, true, false, iterations, 0};
}

std::optional<Schedule> solved(const ScheduleProblem& problem, ScheduleOptions options = {}) {
  std::string why;
  std::optional<Schedule> schedule = solve(problem, options, why);
  EXPECT_EQ(schedule.has_value(), why.empty()) << why;
  if (schedule)
    EXPECT_EQ(verify(problem, *schedule), "");
  return schedule;
}

int64_t length(const ScheduleProblem& problem, const Schedule& schedule) {
  int64_t last = 0;
  for (size_t i = 0; i < schedule.slots.size(); ++i)
    last = std::max(last, schedule.slots[i].offset + problem.operations[i].choices[schedule.slots[i].choice].latency);
  return last;
}

TEST(Schedules, NoOperationsTakeNoTime) {
  EXPECT_EQ(solved({})->interval, 1);
}

TEST(Schedules, UnitsBoundTheInterval) {
  ScheduleProblem problem{{{"alu", 2}}, {}, {}, {}};
  for (int i = 0; i < 7; ++i)
    problem.operations.push_back(on("add" + std::to_string(i), 0));
  const auto schedule = solved(problem);
  EXPECT_EQ(schedule->interval, 4);
  EXPECT_EQ(schedule->lowerBound, 4);
  EXPECT_EQ(length(problem, *schedule), 4);
}

TEST(Schedules, LongOperationsLeaveGaps) {
  // Two of three cycles do not fit into five.
  const ScheduleProblem problem{{{"div", 1}}, {on("a", 0, 3, 3), on("b", 0, 3, 3), on("c", 0)}, {}, {}};
  EXPECT_EQ(solved(problem)->interval, 7);
  const ScheduleProblem two{
      {{"div", 2}}, {on("a", 0, 2), on("b", 0, 2), on("c", 0, 2), on("d", 0, 2), on("e", 0, 2)}, {}, {}};
  EXPECT_EQ(solved(two)->interval, 6);
  EXPECT_EQ(solved(two)->lowerBound, 6);
}

TEST(Schedules, RecurrencesBoundTheInterval) {
  const ScheduleProblem problem{{{"alu", 4}}, {on("a", 0, 1, 3), on("b", 0, 1, 4)}, {reads(0, 1), reads(1, 0, 2)}, {}};
  const auto schedule = solved(problem);
  EXPECT_EQ(schedule->interval, 4); // 7 cycles in 2 iterations
  EXPECT_EQ(schedule->lowerBound, 4);
}

TEST(Schedules, OperationsOfOtherClassesRelieveAUnit) {
  ScheduleProblem problem{{{"alu", 1}, {"mul", 1}}, {}, {}, {}};
  for (int i = 0; i < 4; ++i)
    problem.operations.push_back({"add" + std::to_string(i), {{0, 1, 1}, {1, 1, 3}}});
  EXPECT_EQ(solved(problem)->interval, 2);
  // In a recurrence the faster unit is taken, although the other one would be free.
  const ScheduleProblem loop{{{"mul", 1}, {"alu", 1}}, {{"a", {{0, 1, 3}, {1, 1, 1}}}}, {reads(0, 0, 1)}, {}};
  EXPECT_EQ(solved(loop)->interval, 1);
  EXPECT_EQ(solved(loop)->slots[0].choice, 1u);
}

TEST(Schedules, ExclusiveOperationsShareAUnitAtOneOffset) {
  ScheduleProblem problem{{{"alu", 1}}, {on("a", 0), on("b", 0), on("c", 0)}, {}, {{0, 1}, {1, 2}, {2, 0}}};
  EXPECT_EQ(solved(problem)->interval, 1);
  problem.constraints = {reads(0, 1)}; // then their offsets differ
  EXPECT_EQ(solved(problem)->interval, 2);
  problem.exclusive = {{0, 1}};
  EXPECT_EQ(solved(problem)->interval, 3);
  EXPECT_EQ(solved(problem)->lowerBound, 3);
}

TEST(Schedules, TheShortestOfThemIsTaken) {
  // The interval is 3 for the units; the chain takes 2 + 2 + 1, if what is beside it makes way.
  const ScheduleProblem problem{{{"alu", 1}}, {on("x", 0), on("a", 0, 1, 2), on("b", 0, 1, 2)}, {reads(1, 2)}, {}};
  const auto schedule = solved(problem);
  EXPECT_EQ(schedule->interval, 3);
  EXPECT_EQ(length(problem, *schedule), 4);
}

TEST(Schedules, ValuesLiveForNoLongerThanTheyMust) {
  // The load has nothing to wait for, but nobody reads it before cycle 6.
  const ScheduleProblem problem{
      {{"alu", 3}}, {on("slow", 0, 1, 6), on("load", 0), on("sum", 0)}, {reads(0, 2), reads(1, 2)}, {}};
  EXPECT_EQ(solved(problem)->slots[1].offset, 5);
}

TEST(Schedules, ArrivalsOfOneRegisterComeInTheOrderOfIterations) {
  // Results of both arrive together (a bank expects them so), though one takes longer.
  const ScheduleProblem problem{{{"alu", 1}, {"mul", 1}},
                                {on("fast", 0), on("slow", 1, 1, 4)},
                                {{0, 1, true, true, 0, 0}, {1, 0, true, true, 0, 0}},
                                {}};
  const auto schedule = solved(problem);
  EXPECT_EQ(schedule->interval, 1);
  EXPECT_EQ(schedule->slots[0].offset, schedule->slots[1].offset + 3);
}

TEST(Schedules, WhatHasNoneIsNamed) {
  const auto why = [](const ScheduleProblem& problem, int64_t largest = 256) {
    std::string text;
    ScheduleOptions options;
    options.largestInterval = largest;
    EXPECT_FALSE(solve(problem, options, text));
    return text;
  };
  EXPECT_EQ(why({{{"alu", 0}}, {on("sum", 0)}, {}, {}}),
            "'sum' needs a unit alu, the array has none: no interval up to 256");
  EXPECT_EQ(why({{{"div", 1}}, {on("root", 0, 9)}, {}, {}}, 8),
            "'root' keeps its unit busy for 9 cycles: no interval up to 8");
  EXPECT_EQ(
      why({{{"alu", 2}}, {on("a", 0, 3), on("b", 0, 3), on("c", 0, 3)}, {}, {}}, 4),
      "units alu, of which there are 2, have 3 operations of 9 cycles to execute in each iteration: no interval up to "
      "4");
  EXPECT_EQ(
      why({{{"alu", 1}}, {on("a", 0), on("b", 0)}, {reads(0, 1), reads(1, 0)}, {}}),
      "each waits for the one before it: 'a', 'b', 'a'; that takes 2 cycles in 0 iterations: no interval up to 256");
  // One unit, begun together, and not exclusive: no interval helps.
  EXPECT_EQ(why({{{"alu", 1}}, {on("a", 0), on("b", 0)}, {{0, 1, false, false, 0, 0}, {1, 0, false, false, 0, 0}}, {}}),
            "the constraints between operations of one iteration and the units contradict each other");
  EXPECT_EQ(why({{{"alu", 1}}, {{"a", {}}}, {}, {}}), "operation 'a': no unit executes it");
}

TEST(Schedules, MeaninglessProblemsAreRefused) {
  const ScheduleProblem good{{{"alu", 1}}, {on("a", 0), on("b", 0)}, {reads(0, 1)}, {{0, 1}}};
  EXPECT_EQ(good.check(), "");
  const auto wrong = [&](const std::function<void(ScheduleProblem&)>& change) {
    ScheduleProblem problem = good;
    change(problem);
    EXPECT_NE(problem.check(), "");
    EXPECT_NE(verify(problem, {1, 1, {{0, 0, 0}, {1, 0, 0}}}), "");
  };
  wrong([](ScheduleProblem& problem) { problem.operations[0].choices[0].unit = 1; });
  wrong([](ScheduleProblem& problem) { problem.operations[0].choices.push_back({0, 1, 2}); });
  wrong([](ScheduleProblem& problem) { problem.operations[0].choices[0].busy = 0; });
  wrong([](ScheduleProblem& problem) { problem.operations[0].choices[0].latency = -1; });
  wrong([](ScheduleProblem& problem) { problem.constraints[0].to = 2; });
  wrong([](ScheduleProblem& problem) { problem.constraints[0].cycles = INT64_MAX; });
  wrong([](ScheduleProblem& problem) { problem.exclusive[0] = {1, 1}; });
  wrong([](ScheduleProblem& problem) { problem.exclusive[0] = {1, 2}; });
}

TEST(Schedules, VerifyCatchesWhatIsBroken) {
  const ScheduleProblem problem{{{"alu", 2}, {"mul", 1}},
                                {on("a", 0), on("b", 0), on("m", 1, 2, 3), on("n", 0)},
                                {reads(0, 2), reads(2, 1)},
                                {{0, 3}}};
  const Schedule good{3, 2, {{0, 0, 0}, {4, 0, 0}, {1, 0, 0}, {0, 0, 0}}};
  ASSERT_EQ(verify(problem, good), "");
  const auto broken = [&](const std::function<void(Schedule&)>& change) {
    Schedule schedule = good;
    change(schedule);
    return verify(problem, schedule);
  };
  EXPECT_EQ(broken([](Schedule& s) { s.interval = 0; }), "an interval of 0");
  EXPECT_EQ(broken([](Schedule& s) { s.lowerBound = 4; }), "an interval of 3 and a lower bound of 4");
  EXPECT_EQ(broken([](Schedule& s) { s.slots.pop_back(); }), "3 slots for 4 operations");
  EXPECT_EQ(broken([](Schedule& s) { s.slots[0].offset = -1; }), "'a' begins at -1");
  EXPECT_EQ(broken([](Schedule& s) { s.slots[0].choice = 1; }), "'a' has choice 1 of 1");
  EXPECT_EQ(broken([](Schedule& s) { s.slots[2].instance = 1; }), "'m' is on mul1, there are 1");
  EXPECT_EQ(broken([](Schedule& s) { s.interval = s.lowerBound = 1; }),
            "'m' keeps mul0 busy for longer than an interval");
  EXPECT_EQ(broken([](Schedule& s) { s.slots[1].offset = 3; }), "'b' is at 3, 1 cycles too early after 'm'");
  EXPECT_EQ(broken([](Schedule& s) { s.slots[1].offset = 6; }), "'a' and 'b' are both on alu0 in slot 0");
  EXPECT_EQ(broken([](Schedule& s) { s.slots[3].offset = 3; }), "'a' and 'n' are both on alu0 in slot 0");
}

TEST(Schedules, VerifyComparesArrivals) {
  const ScheduleProblem problem{{{"alu", 2}}, {on("a", 0, 1, 5), on("b", 0)}, {{0, 1, true, true, 1, 1}}, {}};
  EXPECT_EQ(verify(problem, {2, 1, {{0, 0, 0}, {3, 0, 1}}}), "");
  EXPECT_EQ(verify(problem, {2, 1, {{0, 0, 0}, {2, 0, 1}}}), "'b' is at 5, 1 cycles too early after 'a'");
}

class Random {
public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t operator()(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(engine_() % static_cast<uint64_t>(last - first + 1));
  }
  uint32_t index(size_t size) { return static_cast<uint32_t>(engine_() % size); }

private:
  std::mt19937 engine_;
};

ScheduleProblem randomProblem(Random& random, size_t operations) {
  ScheduleProblem problem;
  const auto classes = static_cast<size_t>(random(1, 2));
  for (size_t i = 0; i < classes; ++i)
    problem.units.push_back({"u" + std::to_string(i), static_cast<uint32_t>(random(1, 2))});
  for (size_t i = 0; i < operations; ++i) {
    ScheduleProblem::Operation operation{"o" + std::to_string(i), {}};
    for (uint32_t unit = 0; unit < classes; ++unit)
      if (random(0, 2) != 0 || (unit + 1 == classes && operation.choices.empty()))
        operation.choices.push_back({unit, random(1, 2), random(1, 3)});
    problem.operations.push_back(std::move(operation));
  }
  for (int64_t i = random(0, static_cast<int64_t>(operations) + 1); i > 0; --i)
    problem.constraints.push_back({random.index(operations), random.index(operations), random(0, 1) == 0,
                                   random(0, 2) == 0, random(-1, 2), random(-1, 1)});
  for (int64_t i = random(0, 2); i > 0 && operations > 1; --i) {
    const uint32_t a = random.index(operations), b = random.index(operations);
    if (a != b)
      problem.exclusive.emplace_back(a, b);
  }
  return problem;
}

/// The length of the shortest schedule with this interval and arrivals up to `horizon`; nothing if there is none.
class Enumeration {
public:
  Enumeration(const ScheduleProblem& problem, int64_t interval, int64_t horizon)
      : problem_(problem), schedule_{interval, 1, {}}, best_(horizon + 1), horizon_(horizon) {}
  std::optional<int64_t> run() {
    extend();
    return best_ > horizon_ ? std::nullopt : std::optional(best_);
  }

private:
  void extend() {
    const size_t at = schedule_.slots.size();
    ScheduleProblem part = problem_;
    part.operations.resize(at);
    std::erase_if(part.constraints, [&](const auto& each) { return std::max(each.from, each.to) >= at; });
    std::erase_if(part.exclusive, [&](const auto& each) { return std::max(each.first, each.second) >= at; });
    if (!verify(part, schedule_).empty())
      return;
    if (at == problem_.operations.size()) {
      best_ = std::min(best_, length(problem_, schedule_));
      return;
    }
    const std::vector<ScheduleProblem::Choice>& choices = problem_.operations[at].choices;
    for (uint32_t choice = 0; choice < choices.size(); ++choice)
      for (uint32_t instance = 0; instance < problem_.units[choices[choice].unit].count; ++instance)
        for (int64_t offset = 0; offset + choices[choice].latency < best_; ++offset) {
          schedule_.slots.push_back({offset, choice, instance});
          extend();
          schedule_.slots.pop_back();
        }
  }

  const ScheduleProblem& problem_;
  Schedule schedule_;
  int64_t best_;
  const int64_t horizon_;
};

TEST(Schedules, TinyOnesAreThoseThatAnEnumerationFinds) {
  size_t found = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ScheduleProblem problem = randomProblem(random, static_cast<size_t>(random(1, 3)));
    constexpr int64_t largest = 5, horizon = 14;
    ScheduleOptions options;
    options.largestInterval = largest;
    const auto schedule = solved(problem, options);
    found += schedule.has_value();
    options.isShort = false;
    const auto anyLength = solved(problem, options);
    ASSERT_EQ(anyLength.has_value(), schedule.has_value());
    if (schedule) {
      EXPECT_EQ(anyLength->interval, schedule->interval);
      EXPECT_EQ(anyLength->lowerBound, schedule->lowerBound);
    }
    for (int64_t interval = 1; interval <= (schedule ? schedule->interval : largest); ++interval) {
      const std::optional<int64_t> shortest = Enumeration(problem, interval, horizon).run();
      ASSERT_EQ(shortest.has_value(), schedule && interval == schedule->interval) << interval;
      if (shortest) {
        EXPECT_EQ(*shortest, length(problem, *schedule));
        EXPECT_EQ(schedule->lowerBound, interval);
      }
    }
  }
  EXPECT_GT(found, 50u);
}

TEST(Schedules, LargerOnesHold) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ScheduleProblem problem = randomProblem(random, 12);
    // Without constraints back to earlier operations but through iterations there is always a schedule.
    for (ScheduleProblem::Constraint& each : problem.constraints) {
      if (each.from > each.to)
        std::swap(each.from, each.to);
      each.iterations = each.from == each.to ? 1 : std::abs(each.iterations);
      if (each.iterations > 0)
        std::swap(each.from, each.to);
    }
    const auto schedule = solved(problem);
    ASSERT_TRUE(schedule);
    EXPECT_EQ(schedule->lowerBound, schedule->interval);
    const auto again = solved(problem);
    for (size_t i = 0; i < schedule->slots.size(); ++i)
      EXPECT_EQ(again->slots[i].offset, schedule->slots[i].offset);
  }
}

} // namespace
} // namespace strata::array
