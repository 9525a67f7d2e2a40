// Exact routes: which sink port a channel takes in which step, as a formula; first with the fewest hops that
// displacements ask for, then with detours. See routes.h.
#include "compiler/target/array/routes.h"

#include "base/machine/quantity.h"
#include "compiler/target/array/satisfiability.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace strata::array {

using machine::Port;
using machine::Side;

namespace {

constexpr Side wrapperSides[] = {Side::North, Side::East, Side::South, Side::West};

size_t number(Side side) {
  return static_cast<size_t>(side);
}

Side opposite(Side side) {
  return wrapperSides[(number(side) + 2) % 4];
}

int64_t rowsOf(Side side) {
  return side == Side::North ? -1 : side == Side::South ? 1 : 0;
}

int64_t columnsOf(Side side) {
  return side == Side::West ? -1 : side == Side::East ? 1 : 0;
}

/// What the switch can connect, and the ports that lead to a neighbour.
class Wrapper {
public:
  explicit Wrapper(const RouteProblem& problem) : isFull_(problem.layer.fullyAdjacent) {
    for (const Side side : wrapperSides) {
      const uint64_t count =
          std::min(problem.layer.outputs[number(side)], problem.layer.inputs[number(opposite(side))]);
      for (uint32_t index = 0; index < count; ++index)
        hops.push_back({side, index});
    }
    for (const machine::Adjacency& each : problem.layer.adjacent)
      adjacent_.emplace(each.source, each.sink);
  }

  bool isAdjacent(const Port& source, const Port& sink) const { return isFull_ || adjacent_.contains({source, sink}); }
  /// The neighbour's source port for a sink port.
  static Port sibling(const Port& sink) { return {opposite(sink.side), sink.index}; }

  std::vector<Port> hops; // sink ports that have a sibling

private:
  const bool isFull_;
  std::set<std::pair<Port, Port>> adjacent_;
};

int64_t leastHops(const RouteProblem::Channel& channel) {
  return std::abs(channel.rowStep) + std::abs(channel.columnStep);
}

/// Channels with up to `detour` hops more than the least, all of them together.
class RouteFormula {
public:
  RouteFormula(const RouteProblem& problem, const Wrapper& wrapper, int64_t detour)
      : problem_(problem), wrapper_(wrapper), detour_(detour) {}

  /// False if it becomes too large.
  bool build() {
    std::map<Port, std::vector<Literal>> users;
    std::vector<std::vector<Literal>> ofOutput(problem_.elementOutputs), ofInput(problem_.elementInputs);
    for (const RouteProblem::Channel& channel : problem_.channels) {
      ways_.push_back(wayOf(channel));
      const Way& way = ways_.back();
      for (const std::vector<Literal>& step : way.steps)
        for (size_t i = 0; i < step.size(); ++i)
          users[wrapper_.hops[i]].push_back(step[i]);
      for (size_t i = 0; i < way.outputs.size(); ++i)
        ofOutput[i].push_back(way.outputs[i]);
      for (size_t i = 0; i < way.inputs.size(); ++i)
        ofInput[i].push_back(way.inputs[i]);
      if (formula_.clauses() > mostClauses)
        return false;
    }
    for (const auto& [port, list] : users)
      formula_.atMostOne(list);
    for (const auto* ports : {&ofOutput, &ofInput})
      for (const std::vector<Literal>& list : *ports)
        formula_.atMostOne(list);
    formula_.atMost(more_, static_cast<size_t>(detour_ / 2));
    return true;
  }

  Formula::Answer solve() { return formula_.solve(conflicts, fixed_); }

  /// Of all routes those with the first ports, channel by channel. REQUIRES: the last answer was Satisfiable.
  std::vector<std::vector<Port>> first() {
    std::vector<std::vector<Port>> best = paths();
    for (size_t channel = 0; channel < ways_.size(); ++channel) {
      const Way way = ways_[channel];
      std::vector<std::vector<Literal>> all = {way.outputs, way.inputs};
      all.insert(all.end(), way.steps.begin(), way.steps.end());
      for (const std::vector<Literal>& choices : all)
        best = settle(choices, std::move(best));
    }
    return best;
  }

private:
  struct Way {
    std::vector<Literal> outputs, inputs;    // by element port
    std::vector<std::vector<Literal>> steps; // by step and hop: the sink port it leaves a wrapper by
  };

  /// Of literals of which one holds at most, fixes the first that can hold. Tried are those before the one that does.
  std::vector<std::vector<Port>> settle(const std::vector<Literal>& choices, std::vector<std::vector<Port>> best) {
    const auto now = std::ranges::find_if(choices, [&](Literal literal) { return holds_.contains(literal); });
    for (auto choice = choices.begin(); choice != now && now != choices.end(); ++choice) {
      fixed_.push_back(*choice);
      if (solve() == Formula::Answer::Satisfiable)
        return paths();
      fixed_.pop_back();
    }
    if (now != choices.end())
      fixed_.push_back(*now);
    return best;
  }

  Way wayOf(const RouteProblem::Channel& channel) {
    Way way;
    for (uint32_t i = 0; i < problem_.elementOutputs; ++i)
      way.outputs.push_back(formula_.variable());
    for (uint32_t i = 0; i < problem_.elementInputs; ++i)
      way.inputs.push_back(formula_.variable());
    formula_.exactlyOne(way.outputs);
    formula_.exactlyOne(way.inputs);
    const int64_t least = leastHops(channel), most = least + detour_;
    std::vector<Literal> active; // by step: the route is that long
    for (int64_t step = 0; step < most; ++step) {
      std::vector<Literal>& hops = way.steps.emplace_back();
      for (size_t i = 0; i < wrapper_.hops.size(); ++i)
        hops.push_back(formula_.variable());
      formula_.atMostOne(hops);
      // Beyond the least, hops come in pairs: there and back.
      if (step < least)
        active.push_back(formula_.yes());
      else if ((step - least) % 2 == 1)
        active.push_back(active.back());
      else {
        active.push_back(formula_.variable());
        more_.push_back(active.back());
        formula_.add({-active.back(), active[active.size() - 2]});
      }
      std::vector<Literal> clause = hops;
      clause.push_back(-active.back());
      formula_.add(clause);
      for (const Literal hop : hops)
        formula_.add({-hop, active.back()});
    }
    addAdjacency(way, active, least);
    addDisplacement(way, channel, active);
    return way;
  }

  void addAdjacency(const Way& way, const std::vector<Literal>& active, int64_t least) {
    const std::vector<Port>& hops = wrapper_.hops;
    const auto port = [](size_t index) { return Port{Side::Element, static_cast<uint32_t>(index)}; };
    for (size_t hop = 0; hop < hops.size(); ++hop) {
      for (size_t i = 0; i < way.outputs.size() && !way.steps.empty(); ++i)
        if (!wrapper_.isAdjacent(port(i), hops[hop]))
          formula_.add({-way.outputs[i], -way.steps[0][hop]});
      const Port source = Wrapper::sibling(hops[hop]);
      for (size_t step = 0; step < way.steps.size(); ++step) {
        for (size_t next = 0; next < hops.size() && step + 1 < way.steps.size(); ++next)
          if (!wrapper_.isAdjacent(source, hops[next]))
            formula_.add({-way.steps[step][hop], -way.steps[step + 1][next]});
        const Literal goesOn = step + 1 < active.size() ? active[step + 1] : -formula_.yes();
        for (size_t i = 0; i < way.inputs.size() && static_cast<int64_t>(step) + 1 >= least; ++i)
          if (!wrapper_.isAdjacent(source, port(i)))
            formula_.add({-way.steps[step][hop], goesOn, -way.inputs[i]});
      }
    }
  }

  /// The rows that are left to go, and the columns, step by step; at the end none. In between, no more than what the
  /// remaining hops can go.
  void addDisplacement(const Way& way, const RouteProblem::Channel& channel, const std::vector<Literal>& active) {
    for (const bool isRows : {true, false}) {
      const int64_t step = isRows ? channel.rowStep : channel.columnStep;
      const int64_t detours = detour_ / 2;
      const int64_t low = std::min<int64_t>(step, 0) - detours, high = std::max<int64_t>(step, 0) + detours;
      const auto fixed = [&](int64_t value) {
        std::vector<Literal> at(static_cast<size_t>(high - low + 1), -formula_.yes());
        at[static_cast<size_t>(value - low)] = formula_.yes();
        return at;
      };
      std::vector<Literal> left = fixed(step);
      for (size_t i = 0; i < way.steps.size(); ++i) {
        const bool isLast = i + 1 == way.steps.size();
        std::vector<Literal> next = fixed(0);
        if (!isLast) {
          for (Literal& literal : next)
            literal = formula_.variable();
          formula_.atMostOne(next);
        }
        for (int64_t value = low; value <= high; ++value) {
          const Literal here = left[static_cast<size_t>(value - low)];
          if (here == -formula_.yes())
            continue;
          formula_.add({-here, active[i], next[static_cast<size_t>(value - low)]});
          for (size_t hop = 0; hop < wrapper_.hops.size(); ++hop) {
            const Side side = wrapper_.hops[hop].side;
            const int64_t then = value - (isRows ? rowsOf(side) : columnsOf(side));
            if (then < low || then > high)
              formula_.add({-here, -way.steps[i][hop]});
            else
              formula_.add({-here, -way.steps[i][hop], next[static_cast<size_t>(then - low)]});
          }
        }
        left = std::move(next);
      }
    }
  }

  /// What the solver found; its literals are remembered in holds_.
  std::vector<std::vector<Port>> paths() {
    holds_.clear();
    const auto chosen = [&](const std::vector<Literal>& choices) -> std::optional<size_t> {
      for (size_t i = 0; i < choices.size(); ++i)
        if (formula_.value(choices[i])) {
          holds_.insert(choices[i]);
          return i;
        }
      return std::nullopt;
    };
    std::vector<std::vector<Port>> result;
    for (const Way& way : ways_) {
      std::vector<Port> path = {{Side::Element, static_cast<uint32_t>(*chosen(way.outputs))}};
      for (const std::vector<Literal>& step : way.steps)
        if (const std::optional<size_t> hop = chosen(step)) {
          path.push_back(wrapper_.hops[*hop]);
          path.push_back(Wrapper::sibling(wrapper_.hops[*hop]));
        }
      path.push_back({Side::Element, static_cast<uint32_t>(*chosen(way.inputs))});
      result.push_back(std::move(path));
    }
    return result;
  }

  static constexpr int64_t conflicts = 100'000;
  static constexpr size_t mostClauses = 4'000'000;
  const RouteProblem& problem_;
  const Wrapper& wrapper_;
  const int64_t detour_;
  Formula formula_;
  std::vector<Way> ways_;
  std::vector<Literal> more_; // one for each two hops of detour
  std::vector<Literal> fixed_;
  std::set<Literal> holds_;
};

/// Ports that all routes together need and the wrapper or the element does not have; empty if that is not so.
std::string missingPorts(const RouteProblem& problem, const Wrapper& wrapper) {
  const size_t channels = problem.channels.size();
  const auto element = [&](size_t free, uint32_t ports, const std::string& kind) {
    return std::to_string(channels) + " channels and " + std::to_string(free) + " other " + kind +
           "s, the element has " + std::to_string(ports) + " " + kind + " ports";
  };
  if (channels + problem.freeInputs > problem.elementInputs)
    return element(problem.freeInputs, problem.elementInputs, "input");
  if (channels + problem.freeOutputs > problem.elementOutputs)
    return element(problem.freeOutputs, problem.elementOutputs, "output");
  for (const Side side : wrapperSides) {
    int64_t steps = 0, list = 0;
    for (const RouteProblem::Channel& channel : problem.channels) {
      const int64_t towards = channel.rowStep * rowsOf(side) + channel.columnStep * columnsOf(side);
      steps += std::max<int64_t>(towards, 0);
      list += towards > 0;
    }
    const auto ports = std::ranges::count(wrapper.hops, side, &Port::side);
    if (steps > ports)
      return std::to_string(list) + (list == 1 ? " channel" : " channels") + " to the " +
             machine::sideNames()[number(side)] +
             (steps == list ? "" : " with " + std::to_string(steps) + " hops there") + ", the wrapper has " +
             std::to_string(ports) + (ports == 1 ? " port there" : " ports there");
  }
  return "";
}

} // namespace

std::optional<RouteAllocation> solve(const RouteProblem& problem, std::string& why) {
  why = problem.check();
  if (!why.empty())
    return std::nullopt;
  const Wrapper wrapper(problem);
  why = missingPorts(problem, wrapper);
  if (!why.empty())
    return std::nullopt;
  int64_t least = 0;
  for (const RouteProblem::Channel& channel : problem.channels)
    least += leastHops(channel);
  RouteAllocation result;
  result.isShortest = true;
  // Every hop takes a port of its own, so that there are no more of them.
  for (int64_t hops = least; hops <= static_cast<int64_t>(wrapper.hops.size()); hops += 2) {
    RouteFormula formula(problem, wrapper, hops - least);
    if (!formula.build()) {
      result.isShortest = false;
      break;
    }
    const Formula::Answer answer = formula.solve();
    if (answer == Formula::Answer::Satisfiable) {
      result.paths = formula.first();
      for (const std::vector<Port>& path : result.paths)
        result.hops += (path.size() - 2) / 2;
      return result;
    }
    result.isShortest &= answer == Formula::Answer::Unsatisfiable;
  }
  why = std::to_string(problem.channels.size()) +
        " channels, there are ports enough towards every side, but what the switch connects " +
        (result.isShortest ? "leaves no routes for all of them" : "seems to leave no routes for all of them");
  return std::nullopt;
}

} // namespace strata::array
