// See group_cells.h. Few tiles are visited one by one; of many, the cells that the group's ranges reach are marked.
#include "compiler/hbir/group_cells.h"

#include "compiler/hbir/groups.h"
#include "compiler/hbir/pieces.h"

#include <algorithm>
#include <map>

namespace strata::hbir {

namespace {

constexpr int64_t mostTiles = 50'000; // tiles of one group
constexpr int64_t mostInAll = 500'000;

class Marker {
public:
  Marker(const Program& program, const TileGrid& grid) : program_(program), grid_(grid) {
    const auto cells = static_cast<size_t>(grid.rows() * grid.columns());
    result_.cells.resize(cells);
    result_.others.resize(cells);
  }

  GroupCells run() {
    for (const Group& group : program_.groups)
      if (!group.tile.empty() && !visit(group) && !markRanges(group))
        result_.left.push_back(&group);
    return std::move(result_);
  }

private:
  static bool within(const Group* outer, const Group* inner) {
    for (const Group* each = inner->parent; each; each = each->parent)
      if (each == outer)
        return true;
    return false;
  }

  void mark(size_t cell, const GroupPart& part) {
    std::vector<GroupPart>& parts = result_.cells[cell];
    if (!parts.empty() && parts.back().group == part.group)
      return; // another tile of the same
    if (!parts.empty() && !within(parts.back().group, part.group))
      ++result_.others[cell];
    else
      parts.push_back(part);
  }

  bool visit(const Group& group) {
    const std::vector<GroupIndex> variables = variablesOf(group);
    const std::vector<bool> telling = tellingVariables(group);
    const size_t own = variables.size() - group.indices.size();
    std::vector<int64_t> extents;
    for (size_t i = 0; i < variables.size(); ++i)
      extents.push_back(telling[i] ? variables[i].extent : std::min<int64_t>(1, variables[i].extent));
    const std::optional<int64_t> tiles = product(extents);
    if (!tiles || *tiles > mostTiles || visited_ + *tiles > mostInAll)
      return false;
    visited_ += *tiles;
    std::map<std::vector<int64_t>, size_t> parts;
    std::vector<int64_t> values(extents.size()), coordinates(group.tile.size());
    for (int64_t place = 0; place < *tiles; ++place) {
      int64_t rest = place;
      std::vector<int64_t> numbering;
      for (size_t d = extents.size(); d-- > 0; rest /= extents[d])
        values[d] = rest % extents[d];
      for (size_t d = 0; d < extents.size(); ++d)
        if (d < own || !isDimension(variables[d].name))
          numbering.push_back(values[d]);
      for (size_t d = 0; d < coordinates.size(); ++d) {
        coordinates[d] = group.tile[d].evaluate(values).value_or(-1);
        if (coordinates[d] < 0 || coordinates[d] >= program_.target.extents[d])
          return true; // not a checked program
      }
      mark(grid_.cellOf(coordinates), {&group, parts.emplace(numbering, parts.size()).first->second});
    }
    return true;
  }

  bool markRanges(const Group& group) {
    const auto ranges = tileRanges(group, std::vector<bool>(variablesOf(group).size()));
    if (!ranges || ranges->size() > 2)
      return false;
    std::vector<Interval> bounds;
    if (ranges->size() < 2)
      bounds.push_back({0, 0});
    for (const TileRange& range : *ranges) {
      const auto begin = range.begin.evaluate({}), end = range.end.evaluate({});
      if (!begin || !end || *begin < 0 || *end > program_.target.extents[static_cast<size_t>(&range - ranges->data())])
        return false;
      bounds.push_back({*begin, *end - 1});
    }
    const auto row = [&](int64_t tile) { return bounds.size() == 2 ? grid_.rowOf(tile) : 0; };
    for (int64_t r = row(bounds[0].least); r <= row(bounds[0].most); ++r)
      for (int64_t c = grid_.columnOf(bounds[1].least); c <= grid_.columnOf(bounds[1].most); ++c)
        mark(static_cast<size_t>(r * grid_.columns() + c), {&group, 0});
    return true;
  }

  const Program& program_;
  const TileGrid& grid_;
  GroupCells result_;
  int64_t visited_ = 0;
};

} // namespace

GroupCells groupCells(const Program& program, const TileGrid& grid) {
  return Marker(program, grid).run();
}

} // namespace strata::hbir
