// Are routes ones for their channels? Each path is walked, and every port that it takes is marked. See routes.h.
#include "base/machine/quantity.h"
#include "compiler/target/array/routes.h"

#include <array>
#include <set>

namespace strata::array {

std::string verify(const RouteProblem& problem, const RouteAllocation& allocation) {
  using machine::Port;
  using machine::Side;
  if (std::string wrong = problem.check(); !wrong.empty())
    return wrong;
  if (allocation.paths.size() != problem.channels.size())
    return std::to_string(allocation.paths.size()) + " paths for " + std::to_string(problem.channels.size()) +
           " channels";
  const auto exists = [&](const Port& port, bool isSource) {
    if (port.side == Side::Element)
      return port.index < (isSource ? problem.elementOutputs : problem.elementInputs);
    return port.index < (isSource ? problem.layer.inputs : problem.layer.outputs)[static_cast<size_t>(port.side)];
  };
  std::set<Port> sources, sinks;
  uint64_t hops = 0;
  for (size_t i = 0; i < allocation.paths.size(); ++i) {
    const std::vector<Port>& path = allocation.paths[i];
    const RouteProblem::Channel& channel = problem.channels[i];
    const std::string name = "channel '" + channel.name + "': ";
    if (path.size() < 4 || path.size() % 2 != 0)
      return name + "a path of " + std::to_string(path.size()) + " ports";
    int64_t rows = 0, columns = 0;
    for (size_t at = 0; at < path.size(); ++at) {
      const Port& port = path[at];
      const bool isSource = at % 2 == 0, isEnd = at == 0 || at + 1 == path.size();
      if ((port.side == Side::Element) != isEnd)
        return name + "port " + machine::formatPort(port) + " at place " + std::to_string(at) + " of the path";
      if (!exists(port, isSource))
        return name + "port " + machine::formatPort(port) + " does not exist";
      if (!(isSource ? sources : sinks).insert(port).second)
        return name + "port " + machine::formatPort(port) + " is taken twice";
      if (!isSource) {
        bool isAdjacent = problem.layer.fullyAdjacent;
        for (const machine::Adjacency& each : problem.layer.adjacent)
          isAdjacent |= each == machine::Adjacency{path[at - 1], port};
        if (!isAdjacent)
          return name + "the switch does not connect " + machine::formatPort(path[at - 1]) + " to " +
                 machine::formatPort(port);
        continue;
      }
      if (isEnd)
        continue;
      // Over a border between two wrappers.
      struct Crossing {
        Side from, to;
        int64_t rows, columns;
      };
      static constexpr std::array<Crossing, 4> crossings = {{{Side::North, Side::South, -1, 0},
                                                             {Side::South, Side::North, 1, 0},
                                                             {Side::East, Side::West, 0, 1},
                                                             {Side::West, Side::East, 0, -1}}};
      bool isCrossing = false;
      for (const Crossing& each : crossings)
        if (path[at - 1].side == each.from && port.side == each.to && path[at - 1].index == port.index) {
          isCrossing = true;
          rows += each.rows;
          columns += each.columns;
        }
      if (!isCrossing)
        return name + "port " + machine::formatPort(path[at - 1]) + " does not lead to " + machine::formatPort(port);
      ++hops;
    }
    if (rows != channel.rowStep || columns != channel.columnStep)
      return name + "leads " + std::to_string(rows) + " rows and " + std::to_string(columns) + " columns on, not " +
             std::to_string(channel.rowStep) + " and " + std::to_string(channel.columnStep);
  }
  if (hops != allocation.hops)
    return std::to_string(hops) + " hops and not " + std::to_string(allocation.hops);
  if (allocation.paths.size() + problem.freeInputs > problem.elementInputs)
    return "too few input ports of the element are left over";
  if (allocation.paths.size() + problem.freeOutputs > problem.elementOutputs)
    return "too few output ports of the element are left over";
  return "";
}

} // namespace strata::array
