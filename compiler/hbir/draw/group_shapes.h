// Where the tiles of each group lie, as rectangles of tiles, for drawings. Internal to this folder.
#pragma once

#include "compiler/hbir/program/program.h"

#include <cstdint>
#include <vector>

namespace strata::hbir {

/// Tiles in rows and columns: the last dimension of the target counts columns, all others together count rows.
struct TileBox {
  int64_t row = 0, column = 0, rows = 1, columns = 1;
  int64_t count() const { return rows * columns; }
  friend bool operator==(const TileBox&, const TileBox&) = default;
};

struct GroupShape {
  const Group* group = nullptr;
  size_t depth = 0; // of groups around it
  /// By part, the tiles of one value of the indices that number it (a row of many): disjoint boxes.
  std::vector<std::vector<TileBox>> parts;
  /// The tiles are too many to be looked at one by one, and lie in steps within the box.
  bool isHull = false;
};

/// Every group, those that only hold others included, in order. A group without a part is too large, in too irregular
/// places.
std::vector<GroupShape> groupShapes(const Program& program);

/// Positions (row, column) joined to boxes: runs of a row, then equal runs of rows below each other.
std::vector<TileBox> joined(std::vector<std::pair<int64_t, int64_t>> positions);

} // namespace strata::hbir
