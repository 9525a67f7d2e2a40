// The second implementation of instantiation: the article's running example, a program of two loops against a question
// to every iteration, and configurations that are wrong on purpose.
#include "tests/array/oracle.h"

#include <gtest/gtest.h>

#include <functional>

namespace strata::array::oracle {
namespace {

constexpr Register rd0{Register::Kind::General, 0}, fd0{Register::Kind::Feedback, 0}, id0{Register::Kind::Input, 0},
    od0{Register::Kind::Output, 0}, od1{Register::Kind::Output, 1};

machine::ProcessorArray arrayOf(std::vector<std::string> units) {
  machine::ProcessorArray array;
  array.rows = array.columns = 4;
  for (const std::string& name : units)
    array.units.push_back({name, 1, {}, 64, {}});
  return array;
}

/// Conditions and spaces of a symbolic configuration in the making.
struct Maker {
  Symbolic made;
  uint32_t space(std::vector<Condition> conditions) {
    std::vector<uint32_t> piece;
    for (Condition& each : conditions) {
      piece.push_back(static_cast<uint32_t>(made.conditions.size()));
      made.conditions.push_back(std::move(each));
    }
    made.spaces.push_back({{piece}});
    return static_cast<uint32_t>(made.spaces.size() - 1);
  }
  Term term(uint32_t space, std::vector<int64_t> step = {}, std::vector<int64_t> crossing = {}) const {
    return {space, std::vector<int64_t>(made.loops.size(), 0), std::move(step), std::move(crossing)};
  }
};

Operand immediate(uint64_t value) {
  return {{}, value};
}

/// The article's bit extraction: x[i] is `in` or y[i - 1]; y[i] = x[i] >> 1; bits[i] = x[i] & 1. y goes round through
/// fd0, and from od0 to the next element's id0; bits leave through od1.
Symbolic bits() {
  Maker maker;
  Symbolic& made = maker.made;
  made.program = "bits";
  made.parameters = {"N"};
  made.loops = {{"i", {{{{}, {0}, 0}, 1}}, {{{{}, {1}, -1}, 1}}, 1}};
  made.columnLoop = 0;
  made.interval = 2;
  const uint32_t all = maker.space({});
  const uint32_t first = maker.space({{Condition::Kind::Zero, {{1}, {0}, 0}, 0}});
  const uint32_t later = maker.space({{Condition::Kind::NotNegative, {{1}, {0}, -1}, 0}});
  const uint32_t notLast = maker.space({{Condition::Kind::NotNegative, {{-1}, {1}, -2}, 0}});
  const Term everywhere = maker.term(all);
  made.instructions = {
      {"x",
       0,
       0,
       1,
       Opcode::Move,
       Type::Int32,
       Type::Int32,
       {everywhere},
       {{rd0, {everywhere}}},
       {{{{id0}, {maker.term(first), maker.term(later, {-1}, {-1})}}, {{fd0}, {maker.term(later, {-1}, {0})}}}}},
      {"y",
       1,
       1,
       1,
       Opcode::ShiftRight,
       Type::Int32,
       Type::Int32,
       {everywhere},
       {{fd0, {maker.term(notLast, {1}, {0})}}, {od0, {maker.term(notLast, {1}, {1})}}},
       {{{{rd0}, {everywhere}}}, {{immediate(1), {everywhere}}}}},
      {"bits",
       1,
       2,
       1,
       Opcode::And,
       Type::Int32,
       Type::Int32,
       {everywhere},
       {{od1, {everywhere}}},
       {{{{rd0}, {everywhere}}}, {{immediate(1), {everywhere}}}}},
  };
  made.arrivals = {{{1}, {0}, -2}, {{1}, {1}, -3}};
  return made;
}

InstantiationOptions bitsOptions() {
  InstantiationOptions options;
  options.sizes = {16};
  options.columns = 3;
  return options;
}

Functional move(Register from) {
  return {Opcode::Move, Type::Int32, Type::Int32, {rd0}, {{from}}};
}
Functional shift(std::vector<Register> to) {
  return {Opcode::ShiftRight, Type::Int32, Type::Int32, std::move(to), {{rd0}, immediate(1)}};
}
const Functional mask{Opcode::And, Type::Int32, Type::Int32, {od1}, {{rd0}, immediate(1)}};

/// As the article's section 6.3 writes the program of alu1, but for its names of registers.
Configuration bitsConfiguration() {
  const Branch next{}, halt{Branch::Kind::Halt, {}, {}};
  const auto unless = [](uint16_t signal) { return Branch{Branch::Kind::If, {signal}, {2, 4}}; };
  Configuration made;
  made.program = "bits";
  made.columns = 3;
  made.interval = 2;
  made.loops = {"i"};
  made.extents = {7};
  made.iterations = 16;
  made.classes = {
      {{{{move(id0), next}, {{}, next}, {move(fd0), next}, {{}, unless(2)}, {{}, halt}},
        {{{}, next},
         {shift({fd0}), next},
         {mask, next},
         {shift({fd0}), unless(0)},
         {mask, next},
         {shift({od0}), next},
         {mask, halt}}}},
      {{{{move(id0), next}, {{}, next}, {move(fd0), next}, {{}, unless(3)}, {{}, halt}},
        {{{}, next},
         {shift({fd0}), next},
         {mask, next},
         {shift({fd0}), unless(1)},
         {mask, next},
         {shift({}), next},
         {mask, next},
         {{}, halt}}}},
  };
  made.regions = {{{0, 1}, {0, 2}, 0}, {{0, 1}, {2, 3}, 1}};
  made.columnStart = 13;
  for (const int64_t at : {4, 2, 5, 3})
    made.signals.push_back({{{{at, at + 1}}}});
  return made;
}

bool isSet(const isl::set& set, const std::string& text) {
  return set.is_equal(isl::set(set.ctx(), text));
}

TEST(ArrayOracle, TheRunningExample) {
  const Result result = oracle::instantiate(bits(), arrayOf({"alu0", "alu1"}), bitsOptions());
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.tile, std::vector<int64_t>{6});
  EXPECT_EQ(result.extents, std::vector<int64_t>{7});
  ASSERT_EQ(result.classes(), 2u);
  EXPECT_EQ(result.classOf(0, 0), result.classOf(0, 1));
  EXPECT_NE(result.classOf(0, 0), result.classOf(0, 2));

  // Figures 6 and 7.
  const UnitProgram& full = result.programs[result.classOf(0, 0)][1];
  ASSERT_EQ(full.kernels.size(), 4u);
  EXPECT_TRUE(isSet(full.kernels[0].iterations, "{ [0] }"));
  EXPECT_TRUE(isSet(full.kernels[1].iterations, "{ [j] : 1 <= j <= 4 }"));
  EXPECT_TRUE(isSet(full.kernels[2].iterations, "{ [5] }"));
  EXPECT_TRUE(isSet(full.kernels[3].iterations, "{ [6] }"));
  EXPECT_EQ(full.kernels[0].instructions, (std::vector<Functional>{{}, shift({fd0})}));
  EXPECT_EQ(full.kernels[1].instructions, (std::vector<Functional>{mask, shift({fd0})}));
  EXPECT_EQ(full.kernels[2].instructions, (std::vector<Functional>{mask, shift({od0})}));
  EXPECT_EQ(full.kernels[3].instructions, (std::vector<Functional>{mask, {}}));
  ASSERT_EQ(full.edges.size(), 4u);
  const char* leaving[] = {"{ [0] }", "{ [j] : 1 <= j <= 3 }", "{ [4] }", "{ [5] }"};
  const std::pair<size_t, size_t> ends[] = {{0, 1}, {1, 1}, {1, 2}, {2, 3}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::pair(full.edges[i].from, full.edges[i].to), ends[i]);
    EXPECT_TRUE(isSet(full.edges[i].leaving, leaving[i])) << i;
  }

  const UnitProgram& last = result.programs[result.classOf(0, 2)][1];
  ASSERT_EQ(last.kernels.size(), 5u);
  EXPECT_TRUE(isSet(last.kernels[2].iterations, "{ [3] }"));
  EXPECT_EQ(last.kernels[2].instructions, (std::vector<Functional>{mask, shift({})}));
  EXPECT_TRUE(isSet(last.kernels[4].iterations, "{ [5]; [6] }"));
  EXPECT_TRUE(last.kernels[4].isEmpty());

  const UnitProgram& moves = result.programs[result.classOf(0, 1)][0];
  ASSERT_EQ(moves.kernels.size(), 3u);
  EXPECT_EQ(moves.kernels[0].instructions, (std::vector<Functional>{move(id0), {}}));
  EXPECT_TRUE(isSet(moves.kernels[1].iterations, "{ [j] : 1 <= j <= 5 }"));
}

TEST(ArrayOracle, ARightConfigurationOfTheRunningExample) {
  EXPECT_EQ(compare(bits(), arrayOf({"alu0", "alu1"}), bitsOptions(), bitsConfiguration()), "");
}

TEST(ArrayOracle, WrongConfigurationsOfTheRunningExample) {
  const machine::ProcessorArray array = arrayOf({"alu0", "alu1"});
  const auto message = [&](const std::function<void(Configuration&)>& change) {
    Configuration made = bitsConfiguration();
    change(made);
    return compare(bits(), array, bitsOptions(), made);
  };
  using Change = std::pair<std::function<void(Configuration&)>, const char*>;
  const Change changes[] = {
      {[](Configuration& made) { made.signals[0].ones = {{{3, 4}}}; }, "element (0, 0), unit 1, iteration 4, slot 1"},
      {[](Configuration& made) { made.signals[1].ones.clear(); }, "element (0, 2), unit 1, iteration 3, slot 1"},
      {[](Configuration& made) { made.columnStart = 12; }, "arrival 1 comes 1 cycles too late"},
      {[](Configuration& made) { made.columnStart = -1; }, "element (0, 2) starts at cycle -2"},
      {[](Configuration& made) { made.extents = {8}; }, "the extents are (8), expected (7)"},
      {[](Configuration& made) { made.interval = 3; }, "the interval is 3"},
      {[](Configuration& made) { made.classes[0].programs[1][4].functional.sources[1].immediate = 3; },
       "element (0, 0), unit 1, iteration 5, slot 0"},
      {[](Configuration& made) { made.classes[0].programs[1][6].branch = {}; }, "which is outside of it"},
      {[](Configuration& made) { made.classes[0].programs[1][6].branch = {Branch::Kind::Goto, {}, {6}}; },
       "iteration 6, slot 1"},
      {[](Configuration& made) { made.classes[0].programs[0][4].branch = {Branch::Kind::Goto, {}, {4}}; },
       "does not halt"},
      {[](Configuration& made) { made.classes[0].programs[1][2].branch = {Branch::Kind::If, {0}, {3, 3}}; },
       "a condition before the interval's last slot"},
      {[](Configuration& made) { made.classes[0].programs[1][5].branch = {Branch::Kind::Halt, {}, {}}; },
       "iteration 5: halted, 6 is the last"},
      {[](Configuration& made) { made.classes[0].programs[1][3].branch.signals = {9}; }, "there is no signal 9"},
      {[](Configuration& made) { made.classes[0].programs[1][3].branch.targets = {2}; }, "there is no target 1"},
      {[](Configuration& made) { made.classes[1].programs[0].clear(); }, "there is no program for 4 iterations"},
      {[](Configuration& made) { made.classes[1].programs.pop_back(); }, "class 1 has no program for unit 1"},
      {[](Configuration& made) { made.regions = {{{0, 1}, {0, 3}, 0}}; },
       "element (0, 2), unit 0, iteration 4, slot 0"},
      {[](Configuration& made) { made.regions[1].columns = {1, 3}; }, "element (0, 1) is in two rectangles"},
      {[](Configuration& made) { made.regions.pop_back(); }, "element (0, 2) is of no class"},
      {[](Configuration& made) { made.regions[0].processorClass = 2; }, "there is no class 2"},
      {[](Configuration& made) {
         made.classes.push_back(made.classes[0]);
         made.regions = {{{0, 1}, {0, 1}, 0}, {{0, 1}, {1, 2}, 2}, {{0, 1}, {2, 3}, 1}};
       },
       "elements (0, 0) and (0, 1) are of two classes and should be of one\nthere are 3 classes, expected 2"},
  };
  for (const auto& [change, expected] : changes)
    EXPECT_NE(message(change).find(expected), std::string::npos) << "\"" << expected << "\" is not in:\n"
                                                                 << message(change);
}

TEST(ArrayOracle, NoValueGoesFurtherThanThereAreIterations) {
  const auto message = [](int64_t distance) {
    Symbolic symbolic = bits(); // 16 iterations, 6 in a tile
    symbolic.arrivals.push_back({{distance}, {2}, -1000});
    return compare(symbolic, arrayOf({"alu0", "alu1"}), bitsOptions(), bitsConfiguration());
  };
  EXPECT_EQ(message(16), "");
  EXPECT_NE(message(15).find("arrival 2 comes "), std::string::npos) << message(15);
}

TEST(ArrayOracle, TilesOfMoreIterationsThanAreFollowedOneByOne) {
  const machine::ProcessorArray array = arrayOf({"alu0", "alu1"});
  constexpr int64_t tile = 300'000;
  InstantiationOptions options = bitsOptions();
  options.sizes = {3 * tile};
  Configuration right = bitsConfiguration();
  right.extents = {tile + 1};
  right.columnStart = 2 * (tile - 1) + 3;
  for (size_t i = 0; i < 4; ++i)
    right.signals[i].ones = {{{i < 2 ? tile - 2 : tile - 1, i < 2 ? tile - 1 : tile}}};
  EXPECT_EQ(compare(bits(), array, options, right), "");

  using Change = std::pair<std::function<void(Configuration&)>, const char*>;
  const Change changes[] = {
      {[](Configuration& made) { made.signals[0].ones = {{{tile - 3, tile - 2}}}; }, "iteration 299999, slot 1"},
      {[](Configuration& made) { made.signals[1].ones.clear(); }, "element (0, 2), unit 1, iteration 299999, slot 1"},
      {[](Configuration& made) { made.classes[1].programs[1][6].functional = {}; }, "iteration 300000, slot 0"},
      {[](Configuration& made) { made.classes[1].programs[1][5].branch.kind = Branch::Kind::Halt; },
       "iteration 299999: halted too early"},
      {[](Configuration& made) { made.classes[0].programs[0][4].branch = {Branch::Kind::Goto, {}, {4}}; },
       "does not halt"},
      {[](Configuration& made) { made.classes[0].programs[0].clear(); }, "unit 0, there is no program"},
      {[](Configuration& made) { made.columnStart -= 1; }, "arrival 1 comes 1 cycles too late"},
  };
  for (const auto& [change, expected] : changes) {
    Configuration made = right;
    change(made);
    const std::string message = compare(bits(), array, options, made);
    EXPECT_NE(message.find(expected), std::string::npos) << "\"" << expected << "\" is not in:\n" << message;
  }
}

TEST(ArrayOracle, WhatItRefuses) {
  const machine::ProcessorArray array = arrayOf({"alu0", "alu1"});
  InstantiationOptions options = bitsOptions();
  options.tile = {5};
  EXPECT_EQ(oracle::instantiate(bits(), array, options).error, "the tiles of loop i do not cover it");
  options = bitsOptions();
  options.sizes = {0};
  EXPECT_EQ(oracle::instantiate(bits(), array, options).error, "loop i has no iterations");
  Symbolic symbolic = bits();
  symbolic.instructions[2].offset = 3;
  EXPECT_EQ(oracle::instantiate(symbolic, array, bitsOptions()).error, "unit 1, slot 1: two instructions at once");
  symbolic = bits();
  symbolic.instructions[0].operands[0].pop_back();
  EXPECT_EQ(oracle::instantiate(symbolic, array, bitsOptions()).error, "slot 0: an operand has no value");
  EXPECT_NE(compare(symbolic, array, bitsOptions(), bitsConfiguration()).find("the oracle refuses"), std::string::npos);
}

} // namespace
} // namespace strata::array::oracle
