// Routes of propagation channels: known answers, random switches against an enumeration of all paths, and broken routes
// that must be caught.
#include "compiler/target/array/routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

namespace strata::array {
namespace {

using machine::Port;
using machine::Side;

/// As many ports at every side, everything connected to everything.
RouteProblem wrappers(uint64_t ports, std::vector<RouteProblem::Channel> channels, uint32_t elementPorts = 4) {
  RouteProblem problem;
  problem.layer.inputs.fill(ports);
  problem.layer.outputs.fill(ports);
  problem.elementInputs = problem.elementOutputs = elementPorts;
  problem.channels = std::move(channels);
  return problem;
}

std::optional<RouteAllocation> routed(const RouteProblem& problem) {
  std::string why;
  const std::optional<RouteAllocation> allocation = solve(problem, why);
  EXPECT_EQ(allocation.has_value(), why.empty()) << why;
  if (allocation)
    EXPECT_EQ(verify(problem, *allocation), "");
  return allocation;
}

std::string whyNot(const RouteProblem& problem) {
  std::string why;
  EXPECT_FALSE(solve(problem, why));
  return why;
}

TEST(Routes, NoChannelsTakeNone) {
  EXPECT_EQ(routed(wrappers(1, {}))->hops, 0u);
}

TEST(Routes, NeighboursAreOneHopAway) {
  const auto allocation = routed(wrappers(1, {{"x", 0, 1}, {"y", 1, 0}, {"z", -1, 0}, {"w", 0, -1}}));
  EXPECT_EQ(allocation->paths[0],
            (std::vector<Port>{{Side::Element, 0}, {Side::East, 0}, {Side::West, 0}, {Side::Element, 0}}));
  EXPECT_EQ(allocation->paths[1],
            (std::vector<Port>{{Side::Element, 1}, {Side::South, 0}, {Side::North, 0}, {Side::Element, 1}}));
  EXPECT_EQ(allocation->paths[2],
            (std::vector<Port>{{Side::Element, 2}, {Side::North, 0}, {Side::South, 0}, {Side::Element, 2}}));
  EXPECT_EQ(allocation->paths[3],
            (std::vector<Port>{{Side::Element, 3}, {Side::West, 0}, {Side::East, 0}, {Side::Element, 3}}));
  EXPECT_EQ(allocation->hops, 4u);
  EXPECT_TRUE(allocation->isShortest);
}

TEST(Routes, LongerStepsTakeAPortForEachHop) {
  const auto allocation = routed(wrappers(2, {{"knight", 2, -1}, {"x", 0, -1}}));
  EXPECT_EQ(allocation->hops, 4u);
  EXPECT_EQ(whyNot(wrappers(2, {{"far", 3, 0}})),
            "1 channel to the south with 3 hops there, the wrapper has 2 ports there");
}

TEST(Routes, PortsThatAreTooFewAreNamed) {
  EXPECT_EQ(whyNot(wrappers(2, {{"a", 0, 1}, {"b", 0, 1}, {"c", 0, 1}})),
            "3 channels to the east, the wrapper has 2 ports there");
  RouteProblem problem = wrappers(4, {{"a", 0, 1}, {"b", 0, 1}, {"c", 0, 1}});
  problem.freeInputs = 1;
  EXPECT_TRUE(routed(problem));
  problem.freeInputs = 2;
  EXPECT_EQ(whyNot(problem), "3 channels and 2 other inputs, the element has 4 input ports");
  problem.freeInputs = 0;
  problem.freeOutputs = 2;
  EXPECT_EQ(whyNot(problem), "3 channels and 2 other outputs, the element has 4 output ports");
  // An output port without an input port at the neighbour leads nowhere.
  RouteProblem oneWay = wrappers(1, {{"a", 0, 1}});
  oneWay.layer.inputs[static_cast<size_t>(Side::West)] = 0;
  EXPECT_EQ(whyNot(oneWay), "1 channel to the east, the wrapper has 0 ports there");
}

/// The switch of these connections only.
RouteProblem connected(RouteProblem problem, std::vector<machine::Adjacency> adjacent) {
  problem.layer.fullyAdjacent = false;
  problem.layer.adjacent = std::move(adjacent);
  return problem;
}

TEST(Routes, TheSwitchDecidesWhichPorts) {
  const auto allocation = routed(connected(wrappers(3, {{"x", 0, 1}}), {{{Side::Element, 2}, {Side::East, 1}},
                                                                        {{Side::Element, 1}, {Side::East, 2}},
                                                                        {{Side::West, 1}, {Side::Element, 3}}}));
  EXPECT_EQ(allocation->paths[0],
            (std::vector<Port>{{Side::Element, 2}, {Side::East, 1}, {Side::West, 1}, {Side::Element, 3}}));
  EXPECT_EQ(
      whyNot(connected(wrappers(2, {{"x", 0, 1}}), {{{Side::Element, 0}, {Side::East, 1}}})),
      "1 channels, there are ports enough towards every side, but what the switch connects leaves no routes for all "
      "of them");
}

TEST(Routes, DetoursAreTakenWhereTheSwitchAsksForThem) {
  // Elements reach the south only; from there the east, from there the north.
  const RouteProblem problem = connected(wrappers(1, {{"x", 0, 1}}), {{{Side::Element, 0}, {Side::South, 0}},
                                                                      {{Side::North, 0}, {Side::East, 0}},
                                                                      {{Side::West, 0}, {Side::North, 0}},
                                                                      {{Side::South, 0}, {Side::Element, 0}}});
  const auto allocation = routed(problem);
  ASSERT_TRUE(allocation);
  EXPECT_EQ(allocation->hops, 3u);
  EXPECT_TRUE(allocation->isShortest);
}

TEST(Routes, MeaninglessProblemsAreRefused) {
  EXPECT_EQ(whyNot(wrappers(1, {{"x", 0, 0}})), "channel 'x' leads from an element to itself");
  EXPECT_EQ(whyNot(wrappers(1, {{"x", 1000, 0}})), "channel 'x' leads too far");
  EXPECT_EQ(whyNot(wrappers(1000, {})), "a wrapper with 1000 ports at a side");
  EXPECT_EQ(whyNot(wrappers(1, {}, 1000)), "an element with 1000 ports");
}

TEST(Routes, VerifyCatchesWhatIsBroken) {
  RouteProblem problem = wrappers(2, {{"x", 0, 1}, {"y", 1, 1}}, 2);
  RouteAllocation good;
  good.paths = {
      {{Side::Element, 0}, {Side::East, 0}, {Side::West, 0}, {Side::Element, 0}},
      {{Side::Element, 1}, {Side::South, 0}, {Side::North, 0}, {Side::East, 1}, {Side::West, 1}, {Side::Element, 1}}};
  good.hops = 3;
  ASSERT_EQ(verify(problem, good), "");
  const auto broken = [&](const std::function<void(RouteAllocation&)>& change) {
    RouteAllocation allocation = good;
    change(allocation);
    return verify(problem, allocation);
  };
  using Allocation = RouteAllocation;
  EXPECT_EQ(broken([](Allocation& a) { a.paths.pop_back(); }), "1 paths for 2 channels");
  EXPECT_EQ(broken([](Allocation& a) { a.paths[0].pop_back(); }), "channel 'x': a path of 3 ports");
  EXPECT_EQ(broken([](Allocation& a) { a.paths[0].erase(a.paths[0].begin(), a.paths[0].begin() + 2); }),
            "channel 'x': a path of 2 ports");
  EXPECT_EQ(broken([](Allocation& a) { a.paths[0][0] = {Side::West, 0}; }),
            "channel 'x': port west0 at place 0 of the path");
  EXPECT_EQ(broken([](Allocation& a) { a.paths[1][2] = {Side::Element, 0}; }),
            "channel 'y': port element0 at place 2 of the path");
  EXPECT_EQ(broken([](Allocation& a) { a.paths[0][0].index = 2; }), "channel 'x': port element2 does not exist");
  EXPECT_EQ(broken([](Allocation& a) { a.paths[0][1].index = 2; }), "channel 'x': port east2 does not exist");
  EXPECT_EQ(broken([](Allocation& a) { a.paths[1][0].index = 0; }), "channel 'y': port element0 is taken twice");
  EXPECT_EQ(broken([](Allocation& a) { a.paths[1].back().index = 0; }), "channel 'y': port element0 is taken twice");
  EXPECT_EQ(broken([](Allocation& a) { a.paths[1][3].index = 0; }), "channel 'y': port east0 is taken twice");
  EXPECT_EQ(broken([](Allocation& a) { a.paths[0][2].index = 1; }), "channel 'x': port east0 does not lead to west1");
  EXPECT_EQ(broken([](Allocation& a) { a.paths[0][2].side = Side::North; }),
            "channel 'x': port east0 does not lead to north0");
  EXPECT_EQ(broken([](Allocation& a) { std::swap(a.paths[0], a.paths[1]); }),
            "channel 'x': leads 1 rows and 1 columns on, not 0 and 1");
  EXPECT_EQ(broken([](Allocation& a) { a.hops = 2; }), "3 hops and not 2");
  problem.freeInputs = 1;
  EXPECT_EQ(verify(problem, good), "too few input ports of the element are left over");
  problem.freeInputs = 0;
  problem.freeOutputs = 1;
  EXPECT_EQ(verify(problem, good), "too few output ports of the element are left over");
  problem.freeOutputs = 0;
  problem = connected(problem, {{{Side::Element, 0}, {Side::East, 0}}});
  EXPECT_EQ(verify(problem, good), "channel 'x': the switch does not connect west0 to element0");
}

/// The fewest hops of all ways to walk the channels' paths, one after the other; nothing if there is none.
class Walks {
public:
  explicit Walks(const RouteProblem& problem) : problem_(problem) {}

  std::optional<uint64_t> run() {
    begin(0);
    return best_;
  }

private:
  bool isAdjacent(const Port& source, const Port& sink) const {
    return problem_.layer.fullyAdjacent ||
           std::ranges::find(problem_.layer.adjacent, machine::Adjacency{source, sink}) !=
               problem_.layer.adjacent.end();
  }

  void begin(size_t channel) {
    if (best_ && hops_ >= *best_)
      return;
    if (channel == problem_.channels.size()) {
      best_ = hops_;
      return;
    }
    for (uint32_t i = 0; i < problem_.elementOutputs; ++i)
      if (outputs_.insert(i).second) {
        const RouteProblem::Channel& from = problem_.channels[channel];
        walk(channel, {Side::Element, i}, from.rowStep, from.columnStep);
        outputs_.erase(i);
      }
  }

  void walk(size_t channel, const Port& source, int64_t rows, int64_t columns) {
    if (source.side != Side::Element && rows == 0 && columns == 0)
      for (uint32_t i = 0; i < problem_.elementInputs; ++i)
        take({Side::Element, i}, source, [&] { begin(channel + 1); });
    static constexpr int64_t steps[4][2] = {{-1, 0}, {0, 1}, {1, 0}, {0, -1}};
    for (size_t side = 0; side < 4; ++side)
      for (uint32_t i = 0; i < std::min(problem_.layer.outputs[side], problem_.layer.inputs[(side + 2) % 4]); ++i)
        take({static_cast<Side>(side), i}, source, [&] {
          ++hops_;
          walk(channel, {static_cast<Side>((side + 2) % 4), i}, rows - steps[side][0], columns - steps[side][1]);
          --hops_;
        });
  }

  void take(const Port& sink, const Port& source, const std::function<void()>& next) {
    if (!isAdjacent(source, sink) || !taken_.insert(sink).second)
      return;
    next();
    taken_.erase(sink);
  }

  const RouteProblem& problem_;
  std::set<uint32_t> outputs_;
  std::set<Port> taken_;
  uint64_t hops_ = 0;
  std::optional<uint64_t> best_;
};

TEST(Routes, SmallOnesAreThoseThatAnEnumerationFinds) {
  std::mt19937 engine(1);
  const auto random = [&](int64_t first, int64_t last) {
    return first + static_cast<int64_t>(engine() % static_cast<uint64_t>(last - first + 1));
  };
  size_t found = 0, detours = 0;
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE(i);
    RouteProblem problem;
    for (auto* ports : {&problem.layer.inputs, &problem.layer.outputs})
      for (uint64_t& count : *ports)
        count = static_cast<uint64_t>(random(1, 2));
    problem.elementInputs = problem.elementOutputs = 2;
    int64_t least = 0;
    for (int64_t channels = random(1, 2); channels > 0; --channels) {
      RouteProblem::Channel channel{"c" + std::to_string(channels), random(-1, 1), random(-1, 1)};
      if (channel.rowStep == 0 && channel.columnStep == 0)
        channel.rowStep = 1;
      least += std::abs(channel.rowStep) + std::abs(channel.columnStep);
      problem.channels.push_back(channel);
    }
    problem.layer.fullyAdjacent = random(0, 7) == 0;
    std::vector<Port> sources, sinks;
    for (uint32_t side = 0; side <= static_cast<uint32_t>(Side::Element); ++side) {
      for (uint32_t index = 0; index < 2; ++index) {
        sources.push_back({static_cast<Side>(side), index});
        sinks.push_back({static_cast<Side>(side), index});
      }
    }
    for (const Port& source : sources)
      for (const Port& sink : sinks)
        if (random(0, 9) < 3)
          problem.layer.adjacent.push_back({source, sink});
    const auto allocation = routed(problem);
    const std::optional<uint64_t> fewest = Walks(problem).run();
    ASSERT_EQ(allocation.has_value(), fewest.has_value());
    if (!allocation)
      continue;
    ++found;
    EXPECT_EQ(allocation->hops, *fewest);
    EXPECT_TRUE(allocation->isShortest);
    detours += allocation->hops > static_cast<uint64_t>(least);
  }
  EXPECT_GT(found, 50u);
  EXPECT_GT(detours, 10u);
}

TEST(Routes, ManyChannelsAtOnce) {
  std::vector<RouteProblem::Channel> channels;
  for (int64_t row = -1; row <= 1; ++row)
    for (int64_t column = -1; column <= 1; ++column)
      if (row != 0 || column != 0)
        channels.push_back({"c", row, column});
  const RouteProblem problem = wrappers(3, channels, 8);
  EXPECT_EQ(routed(problem)->hops, 12u);
  EXPECT_EQ(routed(problem)->paths, routed(problem)->paths);
}

} // namespace
} // namespace strata::array
