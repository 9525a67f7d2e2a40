// Signals go along the corner's row and from there along every column: a tree in which each wrapper passes on what it
// gets, and gives it to its element.
#include "runtime/array/periphery.h"

#include <algorithm>

namespace strata::array {

using machine::Port, machine::Side;

namespace {

bool isAdjacent(const machine::InterconnectLayer& layer, Port source, Port sink) {
  return layer.fullyAdjacent ||
         std::ranges::find(layer.adjacent, machine::Adjacency{source, sink}) != layer.adjacent.end();
}

} // namespace

std::optional<InstantiationError> connectControl(const machine::ProcessorArray& array, Configuration& configuration) {
  const machine::InterconnectLayer& layer = array.control;
  const auto signals = static_cast<uint32_t>(configuration.signals.size());
  const bool isSouth =
      configuration.corner == machine::Corner::SouthWest || configuration.corner == machine::Corner::SouthEast;
  const bool isEast =
      configuration.corner == machine::Corner::NorthEast || configuration.corner == machine::Corner::SouthEast;
  const Side from = isSouth ? Side::South : Side::North, away = opposite(from);
  const Side along = isEast ? Side::West : Side::East;
  const uint32_t cornerRow = isSouth ? configuration.rows - 1 : 0,
                 cornerColumn = isEast ? configuration.columns - 1 : 0;
  std::optional<InstantiationError> error;
  const auto need = [&](uint64_t have, Side side, const char* kind) {
    if (have < signals && !error)
      error = {"the programs need " + std::to_string(signals) + " control signals, wrappers have " +
                   std::to_string(have) + " control " + kind + " in the " + sideName(side),
               "fewer signals, or more ports of the control layer, are needed"};
  };
  need(layer.inputs[static_cast<size_t>(from)], from, "inputs");
  if (configuration.rows > 1)
    need(layer.outputs[static_cast<size_t>(away)], away, "outputs");
  if (configuration.columns > 1)
    need(layer.outputs[static_cast<size_t>(along)], along, "outputs");
  if (error)
    return error;
  // A tree over the elements, and a way into each.
  configuration.control.reserve(signals * (2 * size_t{configuration.rows} * configuration.columns - 1));
  for (uint32_t row = 0; row < configuration.rows; ++row)
    for (uint32_t column = 0; column < configuration.columns; ++column) {
      const bool isCornerRow = row == cornerRow;
      const Side source = isCornerRow && column != cornerColumn ? opposite(along) : from;
      std::vector<Side> sinks = {Side::Element};
      if (isCornerRow && column != (isEast ? 0 : configuration.columns - 1))
        sinks.push_back(along);
      if (row != (isSouth ? 0 : configuration.rows - 1))
        sinks.push_back(away);
      std::ranges::sort(sinks);
      for (uint32_t signal = 0; signal < signals; ++signal)
        for (const Side sink : sinks) {
          const Port in = {source, signal}, out = {sink, signal};
          if (!isAdjacent(layer, in, out))
            return InstantiationError{"control signal " + std::to_string(signal) +
                                          " finds no way: wrappers do not connect the control input " +
                                          std::to_string(signal) + " in the " + sideName(source) + " to that of the " +
                                          sideName(sink),
                                      "the control layer needs this adjacency"};
          configuration.control.push_back({row, column, in, out});
        }
    }
  return std::nullopt;
}

} // namespace strata::array
