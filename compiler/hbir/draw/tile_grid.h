// The tiles of a target as a grid of cells on paper: the last dimension goes to the right, all others go down. A cell
// stands for one tile, or for a block of tiles where there are too many. Internal to this folder.
#pragma once

#include "compiler/hbir/program/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::hbir {

class TileGrid {
public:
  /// At most so many rows and columns of cells. Nothing when the tiles are more than 64 bits count.
  static std::optional<TileGrid> of(const Target& target, int64_t mostRows, int64_t mostColumns);

  int64_t rows() const { return rows_; } // of cells
  int64_t columns() const { return columns_; }
  bool oneToOne() const { return high_ == 1 && wide_ == 1; }
  /// Row and column of the cell that has a tile, by the tile's row and column.
  int64_t rowOf(int64_t tileRow) const { return tileRow / high_; }
  int64_t columnOf(int64_t tileColumn) const { return tileColumn / wide_; }
  /// The number of the cell, by rows, that has a tile. REQUIRES: the tile is in the target.
  size_t cellOf(const std::vector<int64_t>& tile) const;
  /// The same for tiles counted by rows over the whole target.
  size_t cellOf(int64_t tile) const;
  /// "t[0][4:8]": the tiles of a cell.
  std::string textOf(int64_t row, int64_t column) const;
  /// "0", "16": the first tile of a column, and of a row: "0", or "[0][3]" for several dimensions.
  std::string columnText(int64_t column) const;
  std::string rowText(int64_t row) const;
  /// "each cell is 4 x 2 tiles"; empty when it is one.
  std::string scaleText() const;

private:
  std::string name_;
  std::vector<int64_t> extents_;
  int64_t tileRows_ = 1, tileColumns_ = 1; // of the target
  int64_t high_ = 1, wide_ = 1;            // tiles of a cell
  int64_t rows_ = 1, columns_ = 1;
};

} // namespace strata::hbir
