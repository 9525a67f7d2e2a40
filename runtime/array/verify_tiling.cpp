// See verify_tiling.h. Numbers are those of runs that were made: nothing is checked for overflow.
#include "runtime/array/verify_tiling.h"

#include <algorithm>
#include <cstdlib>

namespace strata::array {

namespace {

/// Whether divisor · x is at least (sign 1), or at most (sign -1), what the bounds say.
bool keeps(const std::vector<Bound>& bounds, const std::vector<int64_t>& sizes, int64_t x, int64_t sign) {
  return std::ranges::all_of(bounds, [&](const Bound& bound) {
    __int128 value = bound.value.constant;
    for (size_t p = 0; p < sizes.size(); ++p)
      value += static_cast<__int128>(bound.value.parameters[p]) * sizes[p];
    return sign * (static_cast<__int128>(bound.divisor) * x - value) >= 0;
  });
}

std::string tilesText(const Symbolic& symbolic, size_t loop, const Tiling& tiling) {
  return std::to_string(tiling.tiles(loop)) + " tiles of " + std::to_string(tiling.tile[loop]) +
         " iterations of loop '" + symbolic.loops[loop].name + "' of " + std::to_string(tiling.count[loop]);
}

/// Into how many tiles a crossing leads, along a loop.
int64_t acrossOf(const Arrival& arrival, uint32_t loop) {
  return loop == Symbolic::none ? 0 : arrival.crossing[loop];
}

} // namespace

std::string verify(const Symbolic& symbolic, const InstantiationOptions& options, const Tiling& tiling) {
  const size_t loops = symbolic.loops.size();
  if (tiling.lower.size() != loops || tiling.count.size() != loops || tiling.tile.size() != loops ||
      tiling.inner.size() != loops || tiling.extents.size() != loops)
    return "tiles of another number of loops";
  if (tiling.sizes != options.sizes)
    return "tiles for other sizes";
  if (tiling.rowLoop != symbolic.rowLoop || tiling.columnLoop != symbolic.columnLoop)
    return "tiles along other loops";
  if (tiling.rows < 1 || tiling.rows > options.rows || tiling.columns < 1 || tiling.columns > options.columns)
    return "more tiles than the region has elements";
  __int128 iterations = 1;
  for (size_t l = loops; l-- > 0;) {
    const Loop& loop = symbolic.loops[l];
    const int64_t first = tiling.lower[l], last = first + tiling.count[l] - 1;
    if (!keeps(loop.lower, tiling.sizes, first, 1) || keeps(loop.lower, tiling.sizes, first - 1, 1))
      return "loop '" + loop.name + "' does not begin at " + std::to_string(first);
    if (!keeps(loop.upper, tiling.sizes, last, -1) || keeps(loop.upper, tiling.sizes, last + 1, -1))
      return "loop '" + loop.name + "' does not end at " + std::to_string(last);
    const bool isDistributed = l == symbolic.rowLoop || l == symbolic.columnLoop;
    const __int128 covered = static_cast<__int128>(tiling.tile[l]) * tiling.tiles(l);
    if (tiling.tile[l] < 1 || covered < tiling.count[l])
      return tilesText(symbolic, l, tiling) + " do not cover it";
    if (covered - tiling.tile[l] >= tiling.count[l])
      return tilesText(symbolic, l, tiling) + ": one is empty";
    if (!isDistributed && tiling.tile[l] != tiling.count[l])
      return tilesText(symbolic, l, tiling) + ", which is not distributed";
    if (tiling.tile[l] < loop.leastTile)
      return tilesText(symbolic, l, tiling) + ": the schedule relies on " + std::to_string(loop.leastTile);
    if (const int64_t asked = l < options.tile.size() ? options.tile[l] : 0;
        isDistributed && asked != 0 && asked != tiling.tile[l])
      return tilesText(symbolic, l, tiling) + ", " + std::to_string(asked) + " were asked for";
    if (tiling.inner[l] != iterations)
      return "an iteration of loop '" + loop.name + "' takes " + std::to_string(tiling.inner[l]) + " of the tile's";
    iterations *= tiling.tile[l];
    if (l != 0 && tiling.extents[l] != tiling.tile[l])
      return "the tile is longer in loop '" + loop.name + "'";
  }
  // What is begun in the last iteration ends in the extents.
  int64_t latest = 0;
  for (const SymbolicInstruction& each : symbolic.instructions)
    latest = std::max(latest, each.offset / symbolic.interval);
  if (static_cast<__int128>(tiling.extents[0] - tiling.tile[0]) * tiling.inner[0] < latest)
    return "the last operations begin after the last iteration";
  for (const Arrival& arrival : symbolic.arrivals)
    for (const uint32_t loop : {symbolic.rowLoop, symbolic.columnLoop})
      if (acrossOf(arrival, loop) != 0 && tiling.tiles(loop) > 1 &&
          std::abs(arrival.distance[loop]) > tiling.tile[loop])
        return tilesText(symbolic, loop, tiling) + ": a value goes " + std::to_string(arrival.distance[loop]) + " on";
  return "";
}

std::string verify(const Symbolic& symbolic, const machine::ProcessorArray& array, const Tiling& tiling,
                   machine::Corner corner, const Starts& starts) {
  using enum machine::Corner;
  const auto name = [](int64_t row, int64_t column) {
    return "element (" + std::to_string(row) + ", " + std::to_string(column) + ")";
  };
  for (int64_t row = 0; row < tiling.rows; ++row)
    for (int64_t column = 0; column < tiling.columns; ++column) {
      const int64_t down = corner == SouthWest || corner == SouthEast ? tiling.rows - 1 - row : row;
      const int64_t along = corner == NorthEast || corner == SouthEast ? tiling.columns - 1 - column : column;
      const int64_t signal = (down + along) * static_cast<int64_t>(array.control.hop);
      if (const int64_t start = starts.first + row * starts.row + column * starts.column; start < signal)
        return name(row, column) + " starts in cycle " + std::to_string(start) + ", before the signals of cycle " +
               std::to_string(signal);
    }
  std::vector<Arrival> arrivals = symbolic.arrivals;
  for (const Fifo& each : symbolic.fifos)
    arrivals.push_back(each.arrival);
  for (const Arrival& arrival : arrivals) {
    // Of two iterations at the distance, in tiles that are there: that at J and the earlier one at J - d + P ·
    // crossing.
    bool isThere = std::abs(acrossOf(arrival, symbolic.rowLoop)) < tiling.rows &&
                   std::abs(acrossOf(arrival, symbolic.columnLoop)) < tiling.columns;
    __int128 waits = arrival.slack;
    for (size_t l = 0; l < arrival.distance.size(); ++l) {
      const int64_t apart = arrival.distance[l] - tiling.tile[l] * arrival.crossing[l];
      isThere = isThere && std::abs(apart) < tiling.tile[l] && std::abs(arrival.distance[l]) < tiling.count[l];
      waits += static_cast<__int128>(symbolic.interval) * apart * tiling.inner[l];
    }
    waits += static_cast<__int128>(acrossOf(arrival, symbolic.rowLoop)) * starts.row +
             static_cast<__int128>(acrossOf(arrival, symbolic.columnLoop)) * starts.column;
    if (isThere && waits < 0)
      return "a value is read " + std::to_string(static_cast<int64_t>(-waits)) + " cycles before it has come";
  }
  return "";
}

} // namespace strata::array
