// A search for an input goes against the values' direction: from the register's sink to sources that may feed it, and
// over to the neighbour's sink that is wired to the source. For an output it is the other way round.
#include "runtime/array/border_routes.h"

#include <algorithm>

namespace strata::array {

using machine::Port, machine::Side;

namespace {
constexpr std::array wrapperSides = {Side::North, Side::East, Side::South, Side::West};
} // namespace

BorderRoutes::BorderRoutes(const machine::ProcessorArray& array, int64_t rows, int64_t columns,
                           std::span<const Connection> everywhere)
    : array_(array), rows_(rows), columns_(columns) {
  for (const bool isSource : {false, true}) {
    const size_t kind = isSource ? 1 : 0;
    ports_[kind] = 0;
    for (size_t side = 0; side < 5; ++side) {
      first_[kind][side] = ports_[kind];
      ports_[kind] += side == 4 ? (isSource ? array.registers.output : array.registers.input)
                                : (isSource ? array.data.inputs[side] : array.data.outputs[side]);
    }
    others_[kind].resize(ports_[kind]);
    taken_[kind].assign(static_cast<size_t>(rows * columns) * ports_[kind], false);
    seen_[kind].assign(taken_[kind].size(), 0);
  }
  const auto pair = [&](Port source, Port sink) {
    if (source.side != Side::Element)
      others_[0][number(false, sink)].push_back(source);
    if (sink.side != Side::Element)
      others_[1][number(true, source)].push_back(sink);
  };
  for (const machine::Adjacency& adjacency : array.data.adjacent)
    if (!array.data.fullyAdjacent)
      pair(adjacency.source, adjacency.sink);
  if (array.data.fullyAdjacent)
    for (unsigned from = 0; from < 5; ++from)
      for (unsigned to = 0; to < 5; ++to) {
        const size_t sources = (from == 4 ? ports_[1] : first_[1][from + 1]) - first_[1][from];
        const size_t sinks = (to == 4 ? ports_[0] : first_[0][to + 1]) - first_[0][to];
        for (uint32_t i = 0; i < sources; ++i)
          for (uint32_t j = 0; j < sinks; ++j)
            pair({static_cast<Side>(from), i}, {static_cast<Side>(to), j});
      }
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      for (const Connection& connection : everywhere) {
        taken_[1][at({row, column}, true, connection.source)] = true;
        taken_[0][at({row, column}, false, connection.sink)] = true;
      }
}

size_t BorderRoutes::number(bool isSource, Port port) const {
  return first_[isSource ? 1 : 0][static_cast<size_t>(port.side)] + port.index;
}

bool BorderRoutes::hasBank(Side side, Place place, uint32_t index) const {
  return index < array_.borders[static_cast<size_t>(side)].banks &&
         !banks_.contains({side, {positionAt(side, place), index}});
}

void BorderRoutes::take(const BorderPort& port) {
  banks_[{port.side, {port.position, port.index}}] = true;
}

std::pair<uint64_t, uint64_t> BorderRoutes::freeBanks() const {
  uint64_t all = 0;
  for (const Side side : wrapperSides) {
    const auto elements = static_cast<uint64_t>(side == Side::North || side == Side::South ? columns_ : rows_);
    const auto number = static_cast<size_t>(side);
    all += elements *
           std::min(array_.borders[number].banks, std::max(array_.data.inputs[number], array_.data.outputs[number]));
  }
  return {all - std::min<uint64_t>(all, banks_.size()), all};
}

std::optional<BorderPort> BorderRoutes::connect(Place place, Register reg, std::vector<Connection>& connections) {
  // Of an input, steps stand at sinks and look for sources; of an output, at sources for sinks.
  const bool isInput = reg.kind == Register::Kind::Input;
  const size_t here = isInput ? 0 : 1, there = 1 - here;
  const Port start = {Side::Element, reg.index};
  if (isInput && taken_[0][at(place, false, start)])
    return std::nullopt;
  std::vector<Step> steps = {{0, place, start, start}};
  ++round_;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step step = steps[i];
    for (const Port other : others_[here][number(!isInput, step.port)]) {
      if (taken_[there][at(step.place, isInput, other)])
        continue;
      const Place next = step.place.next(other.side);
      if (!isInside(next)) {
        if (!hasBank(other.side, step.place, other.index))
          continue;
        BorderPort result = {other.side, positionAt(other.side, step.place), other.index, 0};
        Port through = other;
        for (size_t at = i;; at = steps[at].before) {
          const Step& each = steps[at];
          const Port source = isInput ? through : each.port, sink = isInput ? each.port : through;
          connections.push_back(
              {static_cast<uint32_t>(each.place.row), static_cast<uint32_t>(each.place.column), source, sink});
          taken_[1][this->at(each.place, true, source)] = true;
          taken_[0][this->at(each.place, false, sink)] = true;
          if (at == 0)
            break;
          through = each.through;
          ++result.hops;
        }
        take(result);
        return result;
      }
      const Port entry = {opposite(other.side), other.index};
      const size_t entryNumber = at(next, !isInput, entry);
      if (taken_[here][entryNumber] || seen_[here][entryNumber] == round_)
        continue;
      seen_[here][entryNumber] = round_;
      steps.push_back({i, next, entry, other});
    }
  }
  return std::nullopt;
}

} // namespace strata::array
