// What units execute is checked against a walk that takes one cycle after the other; pages for what they hold and how
// large they are.
#include "compiler/driver/pages/array_page.h"
#include "compiler/driver/pages/array_schedule.h"

#include <gtest/gtest.h>

#include <random>

namespace strata::driver {
namespace {

using array::Branch, array::Configuration, array::Functional, array::Instruction, array::Opcode, array::Program;
using array::Register, array::Type;

Instruction instruction(Opcode opcode, std::vector<Register> destinations, std::vector<array::Operand> sources,
                        Branch branch = {}) {
  Instruction result;
  result.functional = {opcode, Type::Int32, Type::Int32, std::move(destinations), std::move(sources)};
  result.branch = std::move(branch);
  return result;
}

/// Three kernels of two slots: the first iteration, those in the middle, the last one.
Configuration threeKernels() {
  const Register in = {Register::Kind::Input, 0}, rd = {Register::Kind::General, 0}, od = {Register::Kind::Output, 0};
  Configuration result;
  result.program = "three";
  result.rows = 1;
  result.columns = 3;
  result.interval = 2;
  result.loops = {"j", "k"};
  result.extents = {3, 4};
  result.iterations = 36;
  result.firstStart = 1;
  result.columnStart = 5;
  const Branch again = {Branch::Kind::If, {0}, {2, 4}};
  result.classes = {
      {{{instruction(Opcode::Move, {rd}, {{in, 0}}), instruction(Opcode::Nop, {}, {}, {}),
         instruction(Opcode::Add, {rd}, {{rd, 0}, {{}, 1}}), instruction(Opcode::Nop, {}, {}, again),
         instruction(Opcode::Move, {od}, {{rd, 0}}), instruction(Opcode::Nop, {}, {}, {Branch::Kind::Halt, {}, {}})},
        {}}}};
  result.regions = {{{0, 1}, {0, 3}, 0}};
  result.signals = {{{{{2, 3}, {2, 3}}}}}; // behind the last but one iteration
  result.data = {{0, 0, {machine::Side::Element, 0}, {machine::Side::East, 0}},
                 {0, 1, {machine::Side::West, 0}, {machine::Side::Element, 0}}};
  result.feedbackDepths = {0, 3};
  result.inputs = {{"x <in>", Type::Int32, {3}}};
  result.banks = {{machine::Side::West, 0, 0, false, 0, 1, {{{0, 1}, {0, 1}}}, {0, 1}, 0, {{0, 3}}}};
  return result;
}

machine::ProcessorArray arrayOfTwo() {
  machine::ProcessorArray array;
  array.rows = 1;
  array.columns = 3;
  array.units = {{"alu", 2, {{"add", 2, 1, {}}}, 16, {}}};
  array.registers.feedbackDepth = 64;
  return array;
}

TEST(ArrayScheduleTest, KernelsBecomeRuns) {
  const Configuration configuration = threeKernels();
  const ArraySchedule schedule = scheduleOf(configuration);
  ASSERT_TRUE(schedule.isComplete);
  EXPECT_EQ(schedule.iterations, 12);
  ASSERT_EQ(schedule.classes.size(), 1u);
  const ArraySchedule::Class& each = schedule.classes[0];
  const ArraySchedule::Unit& unit = each.units[0];
  const std::vector<uint32_t> halted = {ArraySchedule::halted, ArraySchedule::halted};
  EXPECT_EQ(unit.slots, (std::vector<std::vector<uint32_t>>{halted, {0, 1}, {2, 3}, {4, 5}}));
  const auto iteration = [&](int64_t j, int64_t k) {
    return unit.slots[schedule.trees.at(unit.root, std::vector<int64_t>{j, k})][0];
  };
  EXPECT_EQ(iteration(0, 0), 0u);
  EXPECT_EQ(iteration(0, 1), 2u);
  EXPECT_EQ(iteration(1, 3), 2u);
  EXPECT_EQ(iteration(2, 2), 2u);
  EXPECT_EQ(iteration(2, 3), 4u);
  EXPECT_EQ(each.units[1].slots, (std::vector<std::vector<uint32_t>>{halted}));
  EXPECT_EQ(each.times, 10);
  EXPECT_EQ(each.first, 1);
  EXPECT_EQ(each.last, 10);
  EXPECT_EQ(schedule.trees.count(unit.root), (std::map<uint32_t, int64_t>{{1, 1}, {2, 10}, {3, 1}}));
}

/// The position of every cycle, found one cycle after the other.
std::vector<uint32_t> walk(const Configuration& configuration, const Program& program, int64_t iterations) {
  std::vector<uint32_t> result(static_cast<size_t>(iterations * configuration.interval), ArraySchedule::halted);
  uint32_t at = program.empty() ? ArraySchedule::halted : 0;
  for (size_t cycle = 0; cycle < result.size() && at != ArraySchedule::halted; ++cycle) {
    result[cycle] = at;
    std::vector<int64_t> point(configuration.extents.size());
    int64_t n = static_cast<int64_t>(cycle) / configuration.interval;
    for (size_t l = point.size(); l-- > 0; n /= configuration.extents[l])
      point[l] = n % configuration.extents[l];
    const Branch& branch = program[at].branch;
    size_t code = 0;
    for (size_t i = 0; i < branch.signals.size(); ++i)
      for (const array::Box& box : configuration.signals[branch.signals[i]].ones) {
        bool isIn = true;
        for (size_t l = 0; l < point.size(); ++l)
          isIn = isIn && box[l].first <= point[l] && point[l] < box[l].end;
        code |= size_t{isIn} << i;
      }
    if (branch.kind == Branch::Kind::Halt)
      at = ArraySchedule::halted;
    else
      at = branch.kind == Branch::Kind::Next ? at + 1 : branch.targets[code];
  }
  return result;
}

TEST(ArrayScheduleTest, RandomProgramsAreWhatAWalkFinds) {
  std::mt19937 random(7);
  const auto below = [&random](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  for (int round = 0; round < 300; ++round) {
    Configuration configuration;
    configuration.interval = 1 + below(3);
    for (int64_t l = 1 + below(3); l > 0; --l)
      configuration.extents.push_back(1 + below(5));
    int64_t iterations = 1;
    for (const int64_t extent : configuration.extents)
      iterations *= extent;
    for (int signal = 0; signal < 3; ++signal) {
      array::Box box;
      for (const int64_t extent : configuration.extents) {
        const int64_t first = below(extent);
        box.push_back({first, first + below(extent - first + 1)});
      }
      configuration.signals.push_back({{box}});
    }
    array::ProcessorClass& processorClass = configuration.classes.emplace_back();
    for (int unit = 0; unit < 2; ++unit) {
      Program& program = processorClass.programs.emplace_back();
      const int64_t blocks = 1 + below(4);
      const auto target = [&] { return static_cast<uint32_t>(below(blocks) * configuration.interval); };
      for (int64_t block = 0; block < blocks; ++block) {
        for (int64_t slot = 0; slot < configuration.interval; ++slot)
          program.push_back(instruction(below(2) ? Opcode::Move : Opcode::Add, {}, {}));
        Branch& branch = program.back().branch;
        if (below(8) == 0)
          branch.kind = Branch::Kind::Halt;
        else if (below(4) == 0)
          branch = {Branch::Kind::Goto, {}, {target()}};
        else if (block + 1 == blocks || below(4) != 0)
          branch = {Branch::Kind::If,
                    {static_cast<uint16_t>(below(3)), static_cast<uint16_t>(below(3))},
                    {target(), target(), target(), target()}};
      }
    }
    const ArraySchedule schedule = scheduleOf(configuration);
    ASSERT_TRUE(schedule.isComplete);
    ASSERT_EQ(schedule.iterations, iterations);
    const ArraySchedule::Class& each = schedule.classes[0];
    std::vector<int64_t> times(each.together.size(), 0);
    for (int64_t n = 0; n < iterations; ++n) {
      std::vector<int64_t> point(configuration.extents.size());
      int64_t rest = n;
      for (size_t l = point.size(); l-- > 0; rest /= configuration.extents[l])
        point[l] = rest % configuration.extents[l];
      const uint32_t together = schedule.trees.at(each.root, point);
      ++times[together];
      for (size_t u = 0; u < 2; ++u) {
        const uint32_t number = schedule.trees.at(each.units[u].root, point);
        ASSERT_EQ(each.together[together][u], number);
        const std::vector<uint32_t> wanted = walk(configuration, processorClass.programs[u], iterations);
        for (int64_t slot = 0; slot < configuration.interval; ++slot)
          ASSERT_EQ(each.units[u].slots[number][static_cast<size_t>(slot)],
                    wanted[static_cast<size_t>(n * configuration.interval + slot)])
              << "round " << round << " unit " << u << " iteration " << n;
      }
    }
    EXPECT_EQ(times[each.kernel], each.times);
  }
}

TEST(ArrayScheduleTest, LongRunsAreSmallAndBounded) {
  Configuration configuration = threeKernels();
  configuration.extents = {1'000'000, int64_t{1} << 40};
  configuration.signals = {{{}}};
  const ArraySchedule bounded = scheduleOf(configuration, 1000);
  EXPECT_FALSE(bounded.isComplete);
  EXPECT_LT(bounded.trees.nodes().size(), 20u);
  configuration.extents = {100, int64_t{1} << 40};
  const ArraySchedule schedule = scheduleOf(configuration);
  EXPECT_TRUE(schedule.isComplete);
  EXPECT_LT(schedule.trees.nodes().size(), 20u);
  EXPECT_EQ(schedule.classes[0].times, 100 * (int64_t{1} << 40) - 1);
  configuration.extents = {1, int64_t{1} << 60};
  configuration.interval = 1 << 20;
  EXPECT_NE(arrayPage(arrayOfTwo(), configuration, {}, {}, "long").find("\"cycles\":9000000000000000,"),
            std::string::npos);
}

TEST(ArrayScheduleTest, WhatMakesNoSenseHalts) {
  Configuration configuration = threeKernels();
  Program& program = configuration.classes[0].programs[0];
  program[3].branch = {Branch::Kind::If, {7, 9}, {99}};
  EXPECT_EQ(scheduleOf(configuration).classes[0].units[0].slots.size(), 3u);
  configuration.extents = {4, 0};
  EXPECT_FALSE(scheduleOf(configuration).isComplete);
  configuration.extents = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_FALSE(scheduleOf(configuration).isComplete);
  configuration.extents = {};
  configuration.signals = {};
  EXPECT_TRUE(scheduleOf(configuration).isComplete);
  configuration.interval = 0;
  EXPECT_FALSE(scheduleOf(configuration).isComplete);
  EXPECT_NE(arrayPage(arrayOfTwo(), configuration, {}, {}, "odd").find("</html>"), std::string::npos);
}

TEST(ArrayPageTest, NamesAreNoTags) {
  Configuration configuration = threeKernels();
  configuration.loops[1] = "</script><b>";
  machine::ProcessorArray array = arrayOfTwo();
  array.units[0].name = "alu<i>";
  const std::string page = arrayPage(array, configuration, {}, {}, "a <run>");
  EXPECT_NE(page.find("a &lt;run&gt;"), std::string::npos);
  EXPECT_NE(page.find("x &lt;in&gt;"), std::string::npos);
  EXPECT_NE(page.find("alu\\u003ci>0"), std::string::npos);
  for (const char* tag : {"<b>", "<i>", "<in>", "<run>"})
    EXPECT_EQ(page.find(tag), std::string::npos) << tag;
}

TEST(ArrayPageTest, TablesNeedNoScript) {
  array::SimulationStatistics statistics;
  statistics.cycles = 40;
  statistics.operations = 36;
  statistics.unitOperations = {36};
  statistics.elementCycles = 72;
  statistics.wordsIn = {0, 0, 0, 1};
  const std::string page = arrayPage(arrayOfTwo(), threeKernels(), {}, statistics, "run");
  for (const char* row :
       {"<td>cycles</td><td>40</td>", "<td>iterations of an element (j, k)</td><td>3 × 4 = 12</td>",
        "<td>alu</td><td>2</td><td>36</td><td>15.0%</td><td>25.0%</td>",
        "<td>0</td><td>3</td><td>1</td><td>6</td><td>1</td><td>10</td><td>10</td><td>83.3%</td>",
        "<td>west</td><td>1</td><td>x &lt;in&gt;</td><td>1</td><td>0</td>", "<td>fd1</td><td>3</td><td>64</td>"})
    EXPECT_NE(page.find(row), std::string::npos) << row;
  EXPECT_NE(page.find("The run was not recorded"), std::string::npos);
  for (const char* place : {"<p id=\"wire\">", "<div id=\"ports\"", "function drawTexts("})
    EXPECT_NE(page.find(place), std::string::npos) << place;
}

TEST(ArrayPageTest, RunsThatFail) {
  ArrayPageValues values;
  values.failure = array::SimulationError{"cycle 7, element (0, 2): a <b>", false, 7, false, 0, 2};
  array::SimulationStatistics statistics;
  statistics.cycles = 8;
  const std::string page = arrayPage(arrayOfTwo(), threeKernels(), values, statistics, "run");
  EXPECT_NE(page.find("The run failed: cycle 7, element (0, 2): a &lt;b&gt;"), std::string::npos);
  EXPECT_NE(page.find("\"failed\":[7,0,2]"), std::string::npos);
  EXPECT_NE(page.find("\"cycles\":8,"), std::string::npos);
  EXPECT_EQ(arrayPage(arrayOfTwo(), threeKernels(), {}, statistics, "run").find("The run failed"), std::string::npos);
}

TEST(ArrayPageTest, LargeRunsAreSmallPages) {
  Configuration configuration = threeKernels();
  const size_t small = arrayPage(arrayOfTwo(), configuration, {}, {}, "run").size();
  configuration.rows = configuration.columns = 32;
  configuration.extents = {300, 300};
  configuration.regions = {{{0, 32}, {0, 32}, 0}};
  configuration.data.clear();
  for (uint32_t r = 0; r < 32; ++r)
    for (uint32_t c = 0; c < 32; ++c)
      configuration.data.push_back({r, c, {machine::Side::West, 0}, {machine::Side::East, 0}});
  EXPECT_LT(arrayPage(arrayOfTwo(), configuration, {}, {}, "run").size(), small + 20'000);
  ArrayPageValues values;
  values.others = "Thus others.";
  for (int64_t i = 0; i < static_cast<int64_t>(arrayPageEvents) + 50'000; ++i)
    values.add({i / 10, static_cast<uint32_t>(i % 32), 3, 0, 2, {1, ~uint64_t{0}, 0}, 3});
  EXPECT_EQ(values.end, 20000);
  const std::string page = arrayPage(arrayOfTwo(), configuration, values, {}, "run");
  EXPECT_LT(page.size(), small + 20'000 + 8 * arrayPageEvents);
  EXPECT_NE(page.find("those of cycles 0 to 19999, 200 000 of 250 000 instructions; the others are left out. "
                      "Thus others."),
            std::string::npos);
  values.events.push_back({0, 99, 99, 99, 99, {}, 0});
  values.events[0] = {0, 99, 99, 99, 99, {}, 0};
  EXPECT_NE(arrayPage(arrayOfTwo(), configuration, values, {}, "run").find("</html>"), std::string::npos);
}

TEST(ArrayPageTest, ValuesOfSomeCycles) {
  ArrayPageValues values;
  values.first = 10;
  values.end = 20;
  for (int64_t cycle = 0; cycle < 40; ++cycle)
    values.add({cycle, 0, 0, 0, 2, {1, 0, 0}, 3});
  EXPECT_EQ(values.events.size(), 10u);
  const std::string page = arrayPage(arrayOfTwo(), threeKernels(), values, {}, "run");
  EXPECT_NE(page.find("those of cycles 10 to 19, 10 of 40 instructions; the others are left out."), std::string::npos);
  EXPECT_NE(page.find("\"opens\":[10,19]"), std::string::npos);
  // A cycle is there as a whole or not at all.
  values = {};
  for (int64_t i = 0; i < static_cast<int64_t>(arrayPageEvents) + 10; ++i)
    values.add({i / 7, 0, 0, 0, 2, {1, 0, 0}, 3});
  EXPECT_EQ(values.end, static_cast<int64_t>(arrayPageEvents) / 7);
  EXPECT_EQ(values.events.size(), 7u * static_cast<size_t>(values.end));
  EXPECT_EQ(values.all, arrayPageEvents + 10);
}

} // namespace
} // namespace strata::driver
