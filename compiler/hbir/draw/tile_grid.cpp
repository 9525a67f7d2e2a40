// See tile_grid.h.
#include "compiler/hbir/draw/tile_grid.h"

#include "compiler/hbir/layout/pieces.h"

#include <algorithm>

namespace strata::hbir {

namespace {

std::string rowsText(int64_t begin, int64_t end) {
  return std::to_string(begin) + (end == begin + 1 ? "" : ":" + std::to_string(end));
}

} // namespace

std::optional<TileGrid> TileGrid::of(const Target& target, int64_t mostRows, int64_t mostColumns) {
  if (!product(target.extents) || *product(target.extents) == 0)
    return std::nullopt;
  TileGrid grid;
  grid.name_ = target.tiles;
  grid.extents_ = target.extents;
  for (size_t d = 0; d + 1 < target.extents.size(); ++d)
    grid.tileRows_ *= target.extents[d];
  grid.tileColumns_ = target.extents.empty() ? 1 : target.extents.back();
  grid.high_ = ceilDivide(grid.tileRows_, mostRows);
  grid.wide_ = ceilDivide(grid.tileColumns_, mostColumns);
  grid.rows_ = ceilDivide(grid.tileRows_, grid.high_);
  grid.columns_ = ceilDivide(grid.tileColumns_, grid.wide_);
  return grid;
}

size_t TileGrid::cellOf(const std::vector<int64_t>& tile) const {
  int64_t number = 0;
  for (size_t d = 0; d < tile.size(); ++d)
    number = number * extents_[d] + tile[d];
  return cellOf(number);
}

size_t TileGrid::cellOf(int64_t tile) const {
  return static_cast<size_t>(rowOf(tile / tileColumns_) * columns_ + columnOf(tile % tileColumns_));
}

std::string TileGrid::textOf(int64_t row, int64_t column) const {
  const int64_t top = row * high_, left = column * wide_;
  const std::string columns = "[" + rowsText(left, std::min(left + wide_, tileColumns_)) + "]";
  if (extents_.size() <= 1)
    return name_ + columns;
  if (extents_.size() == 2)
    return name_ + "[" + rowsText(top, std::min(top + high_, tileRows_)) + "]" + columns;
  const int64_t last = std::min(top + high_, tileRows_) - 1;
  std::string text = name_ + rowText(row);
  if (last != top)
    text += "… (" + std::to_string(last - top + 1) + " rows)";
  return text + columns;
}

std::string TileGrid::columnText(int64_t column) const {
  return std::to_string(column * wide_);
}

std::string TileGrid::rowText(int64_t row) const {
  int64_t rest = row * high_;
  if (extents_.size() == 2)
    return std::to_string(rest);
  std::string text;
  for (size_t d = extents_.size() - 1; d-- > 0; rest /= extents_[d])
    text = "[" + std::to_string(rest % extents_[d]) + "]" + text;
  return text;
}

std::string TileGrid::scaleText() const {
  if (oneToOne())
    return "";
  return "each cell stands for " + (tileRows_ > 1 ? std::to_string(high_) + " x " : std::string()) +
         std::to_string(wide_) + " tiles";
}

} // namespace strata::hbir
