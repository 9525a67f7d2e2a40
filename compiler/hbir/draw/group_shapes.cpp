// See group_shapes.h. Few tiles are visited one by one, and what a group only holds lies where its groups' tiles do; of
// many tiles, the ranges tell.
#include "compiler/hbir/draw/group_shapes.h"

#include "compiler/hbir/layout/groups.h"
#include "compiler/hbir/layout/pieces.h"

#include <algorithm>
#include <map>

namespace strata::hbir {

namespace {

constexpr int64_t mostTiles = 50'000; // tiles of one group
constexpr int64_t mostInAll = 500'000;

using Positions = std::vector<std::pair<int64_t, int64_t>>;

class Visitor {
public:
  explicit Visitor(const Program& program) : program_(program) {}

  std::vector<GroupShape> run() {
    for (const Group& group : program_.groups) {
      GroupShape shape{&group, 0, {}, false};
      for (const Group* each = group.parent; each; each = each->parent)
        ++shape.depth;
      shapes_.push_back(shape);
    }
    tiles_.resize(shapes_.size());
    for (size_t number = 0; number < shapes_.size(); ++number)
      if (const Group& group = *shapes_[number].group; !group.tile.empty() && !visit(group))
        takeRanges(shapes_[number]);
    for (size_t number = 0; number < shapes_.size(); ++number)
      for (auto& [part, positions] : tiles_[number])
        shapes_[number].parts.push_back(joined(std::move(positions)));
    return std::move(shapes_);
  }

private:
  size_t numberOf(const Group* group) const {
    return static_cast<size_t>(
        std::find_if(shapes_.begin(), shapes_.end(), [&](const GroupShape& each) { return each.group == group; }) -
        shapes_.begin());
  }

  bool visit(const Group& group) {
    const std::vector<GroupIndex> variables = variablesOf(group);
    const std::vector<bool> telling = tellingVariables(group);
    std::vector<int64_t> extents;
    for (size_t i = 0; i < variables.size(); ++i)
      extents.push_back(telling[i] ? variables[i].extent : std::min<int64_t>(1, variables[i].extent));
    const std::optional<int64_t> tiles = product(extents);
    if (!tiles || *tiles > mostTiles || visited_ + *tiles > mostInAll)
      return false;
    visited_ += *tiles;
    // The groups around it that have no tiles of their own, with how many of the variables number their parts.
    std::vector<std::pair<size_t, size_t>> holders;
    size_t count = variables.size() - group.indices.size();
    for (const Group* each = group.parent; each; count -= each->indices.size(), each = each->parent)
      if (each->tile.empty())
        holders.emplace_back(numberOf(each), count);
    const size_t own = variables.size() - group.indices.size(), me = numberOf(&group);
    std::vector<int64_t> values(extents.size());
    for (int64_t place = 0; place < *tiles; ++place) {
      int64_t rest = place;
      for (size_t d = extents.size(); d-- > 0; rest /= extents[d])
        values[d] = rest % extents[d];
      std::vector<int64_t> numbering;
      for (size_t d = 0; d < extents.size(); ++d)
        if (d < own || !isDimension(variables[d].name))
          numbering.push_back(values[d]);
      int64_t row = 0, column = 0;
      for (size_t d = 0; d < group.tile.size(); ++d) {
        const int64_t coordinate = group.tile[d].evaluate(values).value_or(-1);
        if (coordinate < 0 || coordinate >= program_.target.extents[d])
          return true; // not a checked program
        row = d + 1 < group.tile.size() ? row * program_.target.extents[d] + coordinate : row;
        column = coordinate;
      }
      tiles_[me][numbering].emplace_back(row, column);
      for (const auto& [holder, numbers] : holders)
        tiles_[holder][{values.begin(), values.begin() + static_cast<ptrdiff_t>(numbers)}].emplace_back(row, column);
    }
    return true;
  }

  void takeRanges(GroupShape& shape) {
    const auto ranges = tileRanges(*shape.group, std::vector<bool>(variablesOf(*shape.group).size()));
    if (!ranges || ranges->size() > 2)
      return;
    TileBox box;
    for (size_t d = 0; d < ranges->size(); ++d) {
      const TileRange& range = (*ranges)[d];
      const auto begin = range.begin.evaluate({}), end = range.end.evaluate({});
      if (!begin || !end || *begin < 0 || *end > program_.target.extents[d] || *begin >= *end)
        return;
      const bool isColumn = d + 1 == ranges->size();
      (isColumn ? box.column : box.row) = *begin;
      (isColumn ? box.columns : box.rows) = *end - *begin;
      shape.isHull |= range.step != 1;
    }
    shape.parts.push_back({box});
  }

  const Program& program_;
  std::vector<GroupShape> shapes_;
  std::vector<std::map<std::vector<int64_t>, Positions>> tiles_; // by group and part
  int64_t visited_ = 0;
};

} // namespace

std::vector<TileBox> joined(Positions positions) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  std::vector<TileBox> boxes;
  std::map<std::pair<int64_t, int64_t>, size_t> above; // boxes that end in the row before, by their columns
  std::map<std::pair<int64_t, int64_t>, size_t> here;
  int64_t row = -1;
  for (size_t at = 0; at < positions.size();) {
    size_t end = at + 1;
    while (end < positions.size() && positions[end].first == positions[at].first &&
           positions[end].second == positions[end - 1].second + 1)
      ++end;
    if (positions[at].first != row) {
      above = positions[at].first == row + 1 ? std::move(here) : std::map<std::pair<int64_t, int64_t>, size_t>();
      here.clear();
      row = positions[at].first;
    }
    const auto length = static_cast<int64_t>(end - at);
    const std::pair columns(positions[at].second, length);
    if (auto found = above.find(columns); found != above.end()) {
      ++boxes[found->second].rows;
      here[columns] = found->second;
    } else {
      here[columns] = boxes.size();
      boxes.push_back({row, columns.first, 1, length});
    }
    at = end;
  }
  return boxes;
}

std::vector<GroupShape> groupShapes(const Program& program) {
  return Visitor(program).run();
}

} // namespace strata::hbir
