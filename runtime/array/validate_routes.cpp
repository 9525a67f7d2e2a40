// Follows each channel from port to port. A path is made of pairs: a source port of a wrapper's switch and the sink
// port that the switch connects it to; from a sink at one side the wire leads to the port of the same index at the
// opposite side of the neighbour.
#include "runtime/array/validate_routes.h"
#include "base/machine/quantity.h"
#include "runtime/array/symbolic_limits.h"

#include <algorithm>
#include <map>

namespace strata::array {

using machine::Port;
using machine::Side;

namespace {

uint64_t sourcesAt(Side side, const machine::ProcessorArray& array) {
  return side == Side::Element ? array.registers.output : array.data.inputs[static_cast<size_t>(side)];
}

uint64_t sinksAt(Side side, const machine::ProcessorArray& array) {
  return side == Side::Element ? array.registers.input : array.data.outputs[static_cast<size_t>(side)];
}

bool isAdjacent(const Port& source, const Port& sink, const machine::InterconnectLayer& layer) {
  return layer.fullyAdjacent || std::ranges::any_of(layer.adjacent, [&](const machine::Adjacency& pair) {
           return pair.source == source && pair.sink == sink;
         });
}

std::string checkPath(const Channel& channel, const machine::ProcessorArray& array) {
  const std::vector<Port>& path = channel.path;
  if (channel.rowStep < -1 || channel.rowStep > 1 || channel.columnStep < -1 || channel.columnStep > 1)
    return "leads " + std::to_string(channel.rowStep) + " rows and " + std::to_string(channel.columnStep) +
           " columns away; neighbours are at most one away";
  if (channel.rowStep == 0 && channel.columnStep == 0)
    return "leads from an element to itself";
  if (path.size() < 4 || path.size() % 2 != 0)
    return "has a path of " + std::to_string(path.size()) + " ports; an even number, at least 4, is needed";
  for (const Port& port : path)
    if (port.side > Side::Element)
      return "has a port at no side";
  if (path.front().side != Side::Element || path.back().side != Side::Element)
    return "has a path that does not begin and end at an element";
  int64_t row = 0, column = 0;
  for (size_t i = 0; i < path.size(); i += 2) {
    const Port &source = path[i], &sink = path[i + 1];
    if (source.index >= sourcesAt(source.side, array))
      return "comes from " + machine::formatPort(source) + ", the array has " +
             std::to_string(sourcesAt(source.side, array)) + " such ports";
    if (sink.index >= sinksAt(sink.side, array))
      return "goes to " + machine::formatPort(sink) + ", the array has " + std::to_string(sinksAt(sink.side, array)) +
             " such ports";
    if (!isAdjacent(source, sink, array.data))
      return "goes from " + machine::formatPort(source) + " to " + machine::formatPort(sink) +
             ", which the array's wrappers do not connect";
    if (i + 2 == path.size())
      break;
    if (sink.side == Side::Element)
      return "passes through " + machine::formatPort(sink) + " before its end";
    const Port sibling = {static_cast<Side>((static_cast<size_t>(sink.side) + 2) % 4), sink.index};
    if (path[i + 2] != sibling)
      return "goes from " + machine::formatPort(sink) + " to " + machine::formatPort(path[i + 2]) +
             ", the wire leads to " + machine::formatPort(sibling);
    row += (sink.side == Side::South) - (sink.side == Side::North);
    column += (sink.side == Side::East) - (sink.side == Side::West);
  }
  if (row != channel.rowStep || column != channel.columnStep)
    return "has a path that leads " + std::to_string(row) + " rows and " + std::to_string(column) +
           " columns away instead of " + std::to_string(channel.rowStep) + " and " + std::to_string(channel.columnStep);
  return "";
}

} // namespace

std::string checkRoutes(const std::vector<Channel>& channels, const machine::ProcessorArray& array) {
  std::map<Port, Port> sourceOf;        // by sink: all wrappers are connected alike
  std::map<uint32_t, size_t> channelOf; // by the element's input
  for (size_t i = 0; i < channels.size(); ++i) {
    const std::string start = "channel " + std::to_string(i) + " ";
    if (const std::string wrong = checkPath(channels[i], array); !wrong.empty())
      return start + wrong;
    const std::vector<Port>& path = channels[i].path;
    for (size_t at = 0; at < path.size(); at += 2) {
      const auto [found, isNew] = sourceOf.try_emplace(path[at + 1], path[at]);
      if (!isNew && found->second != path[at])
        return start + "connects " + machine::formatPort(path[at]) + " to " + machine::formatPort(path[at + 1]) +
               ", to which " + machine::formatPort(found->second) + " is connected";
    }
    const auto [found, isNew] = channelOf.try_emplace(path.back().index, i);
    if (!isNew)
      return start + "ends at " + machine::formatPort(path.back()) + ", as channel " + std::to_string(found->second) +
             " does";
  }
  return "";
}

} // namespace strata::array
