// A search in depth without recursion: wires may pass every wrapper of an array. See wires.h.
#include "runtime/array/wires.h"

#include <algorithm>

namespace strata::array {

using machine::Port;
using machine::Side;

void followWire(const std::vector<Connection>& connections, const Configuration& configuration, uint64_t hop,
                uint32_t row, uint32_t column, Port source, const std::function<void(const WireEnd&)>& each) {
  std::vector<WireEnd> open = {{row, column, source, 0}}; // with sources
  while (!open.empty()) {
    const WireEnd place = open.back();
    open.pop_back();
    auto next =
        std::ranges::lower_bound(connections, Connection{place.row, place.column, place.sink, {Side::North, 0}});
    for (; next != connections.end() && next->row == place.row && next->column == place.column &&
           next->source == place.sink;
         ++next) {
      const Port sink = next->sink;
      int64_t toRow = place.row, toColumn = place.column;
      if (sink.side == Side::North || sink.side == Side::South)
        toRow += sink.side == Side::South ? 1 : -1;
      else if (sink.side != Side::Element)
        toColumn += sink.side == Side::East ? 1 : -1;
      if (sink.side == Side::Element || toRow < 0 || toColumn < 0 || toRow >= configuration.rows ||
          toColumn >= configuration.columns)
        each({place.row, place.column, sink, place.cycles});
      else
        open.push_back({static_cast<uint32_t>(toRow),
                        static_cast<uint32_t>(toColumn),
                        {static_cast<Side>((static_cast<unsigned>(sink.side) + 2) % 4), sink.index},
                        place.cycles + static_cast<int64_t>(hop)});
    }
  }
}

BorderElement borderElement(const Configuration& configuration, Side side, uint32_t position) {
  switch (side) {
  case Side::North:
    return {0, position};
  case Side::South:
    return {configuration.rows - 1, position};
  case Side::West:
    return {position, 0};
  default:
    return {position, configuration.columns - 1};
  }
}

} // namespace strata::array
