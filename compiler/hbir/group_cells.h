// Which groups have the tiles of each cell of a grid. Internal to this folder.
#pragma once

#include "compiler/hbir/tile_grid.h"

#include <vector>

namespace strata::hbir {

/// A group's part that is drawn as one: the tiles of one value of its numbering indices (a row of many).
struct GroupPart {
  const Group* group = nullptr;
  size_t number = 0; // of the part in its group
  friend bool operator==(const GroupPart&, const GroupPart&) = default;
};

struct GroupCells {
  /// By cell: the groups that have tiles there, each inside the one before it; in a cell of many tiles, unrelated ones
  /// are counted in `others` only.
  std::vector<std::vector<GroupPart>> cells;
  std::vector<unsigned> others;
  /// Groups with too many tiles in too irregular places.
  std::vector<const Group*> left;
};

GroupCells groupCells(const Program& program, const TileGrid& grid);

} // namespace strata::hbir
