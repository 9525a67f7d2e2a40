// See region.h.
#include "runtime/array/region.h"

#include "runtime/array/tiling.h"

#include <algorithm>
#include <cstdlib>

namespace strata::array {

namespace {

/// How small tiles of a loop may be.
int64_t leastTile(const Symbolic& symbolic, uint32_t loop) {
  int64_t least = std::max<int64_t>(symbolic.loops[loop].leastTile, 1);
  for (const Arrival& arrival : symbolic.arrivals)
    if (arrival.crossing[loop] != 0)
      least = std::max(least, std::abs(arrival.distance[loop]));
  return least;
}

/// Tiles for a loop of `count` iterations, of `given` iterations each (0: nobody said), on at most so many elements.
uint32_t tilesFor(const Symbolic& symbolic, uint32_t loop, int64_t count, int64_t given, uint64_t most) {
  if (count <= 0)
    return 1;
  int64_t tile = given;
  if (tile <= 0)
    tile = std::max(ceilDivide(count, static_cast<int64_t>(most)), leastTile(symbolic, loop));
  return static_cast<uint32_t>(std::clamp<int64_t>(ceilDivide(count, tile), 1, UINT32_MAX));
}

} // namespace

std::optional<InstantiationError> chooseRegion(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                               InstantiationOptions& options) {
  InstantiationOptions one = options;
  one.tile.clear();
  one.rows = one.columns = 1;
  const auto whole = makeTiling(symbolic, array, one);
  if (const auto* error = std::get_if<InstantiationError>(&whole))
    return *error;
  const std::vector<int64_t>& count = std::get<Tiling>(whole).count;
  const auto tiles = [&](uint32_t loop, uint64_t most) {
    if (loop == Symbolic::none)
      return uint32_t{1};
    return tilesFor(symbolic, loop, count[loop], loop < options.tile.size() ? options.tile[loop] : 0, most);
  };
  options.rows = tiles(symbolic.rowLoop, array.rows);
  options.columns = tiles(symbolic.columnLoop, array.columns);
  return std::nullopt;
}

bool halveRegion(InstantiationOptions& options) {
  if (options.rows == 1 && options.columns == 1)
    return false;
  uint32_t& larger = options.rows > options.columns ? options.rows : options.columns;
  larger = (larger + 1) / 2;
  return true;
}

} // namespace strata::array
