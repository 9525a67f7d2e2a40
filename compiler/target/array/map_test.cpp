// What symbolic mapping refuses, each with its code, and what it chooses by itself. That its results are right, the
// programs of tests/array/ show.
#include "compiler/target/array/emit.h"
#include "compiler/target/array/map.h"

#include <gtest/gtest.h>

namespace strata::array {
namespace {

using equations::Affine;
using equations::Constraint;
using equations::Graph;
using equations::InputUse;
using equations::Node;
using equations::Operation;
using equations::Use;

const ElementType number = ElementType::floating(4);

Affine affine(std::vector<int64_t> iterators, int64_t constant = 0, std::vector<int64_t> parameters = {}) {
  return {std::move(iterators), std::move(parameters), constant};
}

Constraint atLeast0(Affine value) {
  return {Constraint::Kind::NotNegative, std::move(value), 0};
}

/// Loops i0, i1, … from 0 to N - 1, an input x and an output y of as many dimensions; no equations yet.
Graph box(size_t loops) {
  Graph graph;
  graph.name = "sample";
  graph.parameters = {"N"};
  graph.context = {atLeast0(affine({}, -1, {1}))};
  std::vector<Affine> extents;
  for (size_t i = 0; i < loops; ++i) {
    graph.iterators.push_back("i" + std::to_string(i));
    extents.push_back(affine({}, 0, {1}));
  }
  graph.inputs = {{"x", number, extents, {}}};
  graph.outputs = {{"y", number, extents, {}}};
  return graph;
}

/// Where I - distance is in the box (`isInside`), or where it is not.
equations::Space where(size_t loops, const std::vector<int64_t>& distance, bool isInside = true) {
  std::vector<Constraint> all, near;
  for (size_t i = 0; i < loops; ++i) {
    std::vector<int64_t> up(loops, 0), down(loops, 0);
    up[i] = 1;
    down[i] = -1;
    all.push_back(atLeast0(affine(up)));
    all.push_back(atLeast0(affine(down, -1, {1})));
    near.push_back(atLeast0(affine(up, -distance[i])));
    near.push_back(atLeast0(affine(down, -1 + distance[i], {1})));
  }
  equations::Space space;
  if (isInside) {
    space.pieces = {all};
    space.pieces[0].insert(space.pieces[0].end(), near.begin(), near.end());
    return space;
  }
  // The complement, piece by piece: the first of the conditions that does not hold.
  for (size_t i = 0; i < near.size(); ++i) {
    std::vector<Constraint> piece = all;
    piece.insert(piece.end(), near.begin(), near.begin() + static_cast<ptrdiff_t>(i));
    Constraint broken = near[i];
    for (int64_t& each : broken.value.iterators)
      each = -each;
    for (int64_t& each : broken.value.parameters)
      each = -each;
    broken.value.constant = -broken.value.constant - 1;
    piece.push_back(broken);
    space.pieces.push_back(piece);
  }
  return space;
}

std::vector<Affine> identity(size_t loops) {
  std::vector<Affine> index;
  for (size_t i = 0; i < loops; ++i) {
    std::vector<int64_t> unit(loops, 0);
    unit[i] = 1;
    index.push_back(affine(unit));
  }
  return index;
}

Node node(Operation operation, std::vector<equations::Operand> operands, uint32_t target, equations::Space domain) {
  Node made;
  made.operation = operation;
  made.type = made.operandType = number;
  made.operands = std::move(operands);
  made.target = target;
  made.domain = std::move(domain);
  return made;
}

/// v = x + v at each of the distances (where that is inside), y = v.
Graph recurrence(size_t loops, const std::vector<std::vector<int64_t>>& distances) {
  Graph graph = box(loops);
  for (const std::vector<int64_t>& distance : distances) {
    const auto v = static_cast<uint32_t>(graph.variables.size());
    graph.variables.push_back({"v" + std::to_string(v), number, {}});
    graph.nodes.push_back(
        node(Operation::Add, {InputUse{0, identity(loops)}, Use{v, distance}}, v, where(loops, distance)));
    graph.nodes.push_back(node(Operation::Copy, {InputUse{0, identity(loops)}}, v, where(loops, distance, false)));
  }
  const std::vector<int64_t> here(loops, 0);
  const auto sum = static_cast<uint32_t>(graph.variables.size());
  graph.variables.push_back({"sum", number, {}});
  const equations::Operand last = Use{distances.size() > 1 ? 1u : 0u, here};
  graph.nodes.push_back(node(Operation::Add, {Use{0, here}, last}, sum, where(loops, here)));
  Node output = node(Operation::Copy, {Use{sum, here}}, 0, where(loops, here));
  output.isOutput = true;
  output.index = identity(loops);
  graph.nodes.push_back(output);
  return graph;
}

class Mapping : public testing::Test {
protected:
  Mapping() : machine(*loadMachine("array-4x4", {STRATA_SOURCE_DIR "/machines"}, diagnostics)) {
    for (machine::Processor& each : machine.processors)
      if (!each.array.empty())
        array = each.array[0];
  }
  std::optional<Symbolic> mapped(const Graph& graph) {
    diagnostics.clear();
    return map(graph, "test", array, options, diagnostics);
  }
  void refuses(const Graph& graph, const char* code) {
    EXPECT_FALSE(mapped(graph)) << code;
    const std::string said = diagnostics.render({});
    EXPECT_NE(said.find(std::string("[") + code + "]"), std::string::npos) << said;
    EXPECT_NE(said.find("help:"), std::string::npos) << said;
  }

  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  Machine machine;
  machine::ProcessorArray array;
  MapOptions options;
};

TEST_F(Mapping, MapsARecurrence) {
  options.region = {1, 4};
  const std::optional<Symbolic> made = mapped(recurrence(2, {{0, 1}}));
  ASSERT_TRUE(made) << diagnostics.render({});
  EXPECT_EQ(made->interval, made->lowerBound);
  EXPECT_EQ(validate(*made, array), "");
  // Rows are independent of each other: the outer loop is distributed.
  EXPECT_EQ(made->loops[made->columnLoop].name, "i0");
}

TEST_F(Mapping, CopiesStayOutOfRecurrences) {
  // Three users of a value, and two destinations: that of the next row has to have it at once, the neighbour has not.
  options.rowLoop = options.columnLoop = "";
  options.order = {"i0", "i1"};
  Graph graph = recurrence(2, {{1, 0}});
  Node later = graph.nodes[2];
  ASSERT_EQ(later.target, 1u);
  later.operands[1] = Use{0, {0, 1}};
  later.domain = where(2, {0, 1});
  graph.nodes[2].domain = where(2, {0, 1}, false);
  graph.nodes.push_back(later);
  const std::optional<Symbolic> made = mapped(graph);
  ASSERT_TRUE(made) << diagnostics.render({});
  EXPECT_TRUE(std::ranges::any_of(made->instructions, [](const auto& each) { return each.name == "v0.copy"; }));
  EXPECT_EQ(made->interval, 1);
}

TEST_F(Mapping, DistributesAsManyLoopsAsTheRegionHasDirections) {
  const auto loopsOf = [&](uint32_t rows, uint32_t columns) {
    options.region = {rows, columns};
    const std::optional<Symbolic> made = mapped(recurrence(2, {{0, 1}}));
    EXPECT_TRUE(made) << diagnostics.render({});
    return std::pair(made->rowLoop != Symbolic::none, made->columnLoop != Symbolic::none);
  };
  EXPECT_EQ(loopsOf(4, 4), std::pair(true, true));
  EXPECT_EQ(loopsOf(4, 1), std::pair(true, false));
  EXPECT_EQ(loopsOf(1, 4), std::pair(false, true));
}

TEST_F(Mapping, TakesMoreCyclesThanUnits) {
  for (machine::FunctionalUnit& unit : array.units)
    unit.count = 1;
  options.rowLoop = "";
  options.columnLoop = "i0";
  const std::optional<Symbolic> made = mapped(recurrence(2, {{0, 1}, {1, 0}}));
  ASSERT_TRUE(made) << diagnostics.render({});
  EXPECT_EQ(made->interval, made->lowerBound);
  EXPECT_GE(made->interval, 3); // three sums
}

TEST_F(Mapping, RefusesLoopsThatDoNotExist) {
  options.columnLoop = "k";
  refuses(recurrence(1, {{1}}), "array-loop");
}

TEST_F(Mapping, RefusesLoopsThatAreNamedTwice) {
  options.rowLoop = options.columnLoop = "i0";
  refuses(recurrence(2, {{0, 1}}), "array-loop-twice");
  options = {};
  options.order = {"i0", "i0"};
  refuses(recurrence(2, {{0, 1}}), "array-loop-twice");
  options = {};
  options.skews = {{"i0", "i0", 1}};
  refuses(recurrence(2, {{0, 1}}), "array-loop-twice");
}

TEST_F(Mapping, RefusesAnOrderOfSomeLoops) {
  options.order = {"i1"};
  refuses(recurrence(2, {{0, 1}}), "array-order-loops");
}

TEST_F(Mapping, RefusesAnOrderThatUsesLaterValues) {
  options.order = {"i1", "i0"};
  refuses(recurrence(2, {{1, -1}, {1, 1}}), "array-order-illegal");
  options.order = {"i0", "i1"};
  EXPECT_TRUE(mapped(recurrence(2, {{1, -1}, {1, 1}}))) << diagnostics.render({});
}

TEST_F(Mapping, RefusesValuesThatGoBothWays) {
  refuses(recurrence(1, {{1}, {-1}}), "array-order");
}

TEST_F(Mapping, SkewsWhatHasNoOrderOtherwise) {
  diagnostics.enableRemarks(true);
  // Neither loop is the outer one, forward or backward.
  const std::optional<Symbolic> made = mapped(recurrence(2, {{1, -1}, {-1, 2}}));
  ASSERT_TRUE(made) << diagnostics.render({});
  EXPECT_NE(diagnostics.render({}).find("[array-skewed]"), std::string::npos) << diagnostics.render({});
  // Three that sum up to nothing have no order in any coordinates.
  refuses(recurrence(2, {{1, 0}, {0, 1}, {-1, -1}}), "array-order");
}

TEST_F(Mapping, SkewsDistributedLoopsOnRequest) {
  options.rowLoop = "";
  options.columnLoop = "i1";
  const std::vector<std::vector<int64_t>> bothWays = {{1, -1}, {1, 1}};
  const std::optional<Symbolic> plain = mapped(recurrence(2, bothWays));
  options.isForward = true;
  const std::optional<Symbolic> forward = mapped(recurrence(2, bothWays));
  ASSERT_TRUE(plain && forward) << diagnostics.render({});
  const auto crossesBack = [](const Symbolic& symbolic) {
    return std::ranges::any_of(symbolic.channels, [](const Channel& each) { return each.columnStep < 0; });
  };
  EXPECT_TRUE(crossesBack(*plain));
  EXPECT_FALSE(crossesBack(*forward));
}

/// Values v and w of the same distance, whose users are in the iterations where i0 is even and odd.
Graph byTurns() {
  Graph graph = box(1);
  const std::vector<int64_t> here = {0}, last = {1};
  for (uint32_t v = 0; v < 2; ++v) {
    graph.variables.push_back({v == 0 ? "v" : "w", number, {}});
    graph.nodes.push_back(
        node(Operation::Add, {InputUse{0, identity(1)}, InputUse{0, identity(1)}}, v, where(1, here)));
  }
  graph.variables.push_back({"sum", number, {}});
  for (uint32_t v = 0; v < 2; ++v) {
    Node used = node(Operation::Multiply, {InputUse{0, identity(1)}, Use{v, last}}, 2, where(1, last));
    used.operation = v == 0 ? Operation::Multiply : Operation::Subtract;
    for (std::vector<Constraint>& piece : used.domain.pieces)
      piece.push_back({v == 0 ? Constraint::Kind::Divisible : Constraint::Kind::NotDivisible, affine({1}), 2});
    graph.nodes.push_back(used);
  }
  graph.nodes.push_back(node(Operation::Copy, {InputUse{0, identity(1)}}, 2, where(1, last, false)));
  Node output = node(Operation::Copy, {Use{2, here}}, 0, where(1, here));
  output.isOutput = true;
  output.index = identity(1);
  graph.nodes.push_back(output);
  return graph;
}

TEST_F(Mapping, ValuesOfDisjointIterationsShareRegistersAndChannels) {
  options.rowLoop = "";
  options.columnLoop = "i0";
  // Where each has its own, an interval is shorter.
  const std::optional<Symbolic> apart = mapped(byTurns());
  ASSERT_TRUE(apart) << diagnostics.render({});
  EXPECT_EQ(apart->channels.size(), 2u);
  array.registers.feedback = 1;
  const std::optional<Symbolic> made = mapped(byTurns());
  ASSERT_TRUE(made) << diagnostics.render({});
  EXPECT_EQ(made->channels.size(), 1u);
  EXPECT_EQ(made->lowerBound, apart->lowerBound);
  array.registers.feedback = 0;
  refuses(byTurns(), "array-registers");
}

/// Sums over every second value of x, of which those of the last iterations leave.
Graph lastOnes(int64_t iterations) {
  Graph graph = recurrence(1, {{2}});
  Node& output = graph.nodes.back();
  output.operands = {Use{0, {0}}};
  output.domain.pieces[0].push_back(atLeast0(affine({1}, iterations, {-1})));
  return graph;
}

TEST_F(Mapping, OutputsOfTheLastIterationsLeaveAlongAChannelIfTheirTileIsTheLast) {
  options.rowLoop = "";
  options.columnLoop = "i0";
  const std::optional<Symbolic> one = mapped(lastOnes(1)), two = mapped(lastOnes(2));
  ASSERT_TRUE(one && two) << diagnostics.render({});
  EXPECT_EQ(one->accesses.back().channel, 0u);
  // The last tile may have the last iteration alone.
  EXPECT_EQ(two->accesses.back().channel, Access::ownRoute);
}

TEST_F(Mapping, RefusesLoopsWithoutBounds) {
  Graph graph = recurrence(1, {{1}});
  for (Node& each : graph.nodes)
    each.domain.pieces = {{atLeast0(affine({1}))}};
  refuses(graph, "array-loop-bound");
}

TEST_F(Mapping, RefusesProgramsWithoutLoops) {
  refuses(Graph(), "array-loops");
}

TEST_F(Mapping, RefusesOperationsThatNoUnitHas) {
  Graph graph = recurrence(1, {{1}});
  graph.nodes[0].operation = Operation::Divide;
  EXPECT_TRUE(mapped(graph)) << diagnostics.render({});
  std::erase_if(array.units, [](const machine::FunctionalUnit& unit) { return unit.name == "div"; });
  refuses(graph, "array-operation");
}

TEST_F(Mapping, RefusesWideTypes) {
  array.word = 2;
  refuses(recurrence(1, {{1}}), "array-word");
}

TEST_F(Mapping, RefusesWhatTakesMoreRegisters) {
  array.registers.feedback = 0;
  refuses(recurrence(2, {{0, 1}}), "array-registers");
}

TEST_F(Mapping, SaysWhatIsWrongWithOneChoiceOfLoops) {
  array.registers.feedback = 0;
  EXPECT_FALSE(mapped(recurrence(2, {{0, 1}, {1, 0}})));
  EXPECT_EQ(diagnostics.errorCount(), 1u) << diagnostics.render({});
}

TEST_F(Mapping, BrokenMappingsAreOurError) {
  reportBroken(recurrence(1, {{1}}), "two values in one register", diagnostics);
  const std::string said = diagnostics.render({});
  EXPECT_NE(said.find("error[array-mapping-internal]"), std::string::npos) << said;
  EXPECT_NE(said.find("two values in one register"), std::string::npos) << said;
}

TEST_F(Mapping, RefusesMoreChannelsThanPorts) {
  options.rowLoop = "";
  options.columnLoop = "i0";
  array.data.inputs = array.data.outputs = {1, 1, 1, 1};
  refuses(recurrence(1, {{1}, {2}, {3}}), "array-routes");
}

TEST_F(Mapping, RefusesUnitsOfWhichThereAreNone) {
  for (machine::FunctionalUnit& unit : array.units)
    unit.count = 0;
  refuses(recurrence(1, {{1}}), "array-schedule");
}

TEST_F(Mapping, RefusesNumbersThatAreTooLarge) {
  Graph graph = recurrence(1, {{1}});
  for (Node& each : graph.nodes)
    for (std::vector<Constraint>& piece : each.domain.pieces)
      piece.push_back(atLeast0(affine({int64_t{1} << 40}, -3, {-1})));
  refuses(graph, "array-too-hard");
  const char* why = "too hard to map, in choosing the loops that are distributed: a number that is too large\n";
  EXPECT_NE(diagnostics.render({}).find(why), std::string::npos) << diagnostics.render({});
}

TEST_F(Mapping, RefusesRemaindersOfLargeDivisors) {
  Graph graph = recurrence(1, {{1}});
  for (Node& each : graph.nodes)
    for (std::vector<Constraint>& piece : each.domain.pieces)
      piece.push_back({Constraint::Kind::NotDivisible, affine({1}), 1000});
  refuses(graph, "array-condition");
}

} // namespace
} // namespace strata::array
