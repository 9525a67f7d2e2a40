// Groups: tiles outside the target, shared and repeated ones, and the ranges that are told; random ones against
// counting.
#include "compiler/hbir/layout/groups.h"
#include "compiler/hbir/program/program_testing.h"

#include <map>
#include <set>

namespace strata::hbir {
namespace {

struct GroupsTest : ProgramTest {};
const IndexExpression x = variable(0), y = variable(1);

std::vector<GroupIndex> xy(int64_t rows, int64_t columns) {
  return {{"x", rows}, {"y", columns}};
}

TEST_F(GroupsTest, TwoHalvesSideBySide) {
  target({4, 4});
  group("tga", xy(2, 4), {x, y});
  group("tgb", xy(2, 4), {x + number(2), y});
  EXPECT_TRUE(checkGroups(program, diagnostics)) << said();
  EXPECT_EQ(groupsText(program), "tga[x in 2][y in 4]: t[0:2][0:4]\ntgb[x in 2][y in 4]: t[2:4][0:4]\n");
}

TEST_F(GroupsTest, OverlapNamesBothGroupsAndASharedTile) {
  target({4, 4});
  group("tga", xy(2, 4), {x, y});
  group("tgb", xy(2, 4), {x + number(1), y});
  EXPECT_FALSE(checkGroups(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-groups-overlap"));
  EXPECT_NE(said().find("groups 'tga' and 'tgb' share tile t[1][0]"), std::string::npos) << said();
  EXPECT_EQ(diagnostics.all()[0].labels.size(), 2u);
}

TEST_F(GroupsTest, InterleavedGroupsDoNotOverlap) {
  target({8});
  group("even", {{"x", 4}}, {x * number(2)});
  group("odd", {{"x", 4}}, {x * number(2) + number(1)});
  EXPECT_TRUE(checkGroups(program, diagnostics)) << said();
  EXPECT_EQ(groupsText(program), "even[x in 4]: t[0:7:2]\nodd[x in 4]: t[1:8:2]\n");
}

TEST_F(GroupsTest, OutsideNamesExtentsAndATile) {
  target({4, 4});
  group("tg", xy(2, 4), {x + number(3), y});
  EXPECT_FALSE(checkGroups(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-group-outside"));
  EXPECT_NE(said().find("group 'tg' leaves the target: it has a tile at t[4][0], and the target has 4 x 4 tiles"),
            std::string::npos)
      << said();
  EXPECT_NE(said().find("of extents 2 x 4; outside with x=1, y=0"), std::string::npos) << said();
}

TEST_F(GroupsTest, NegativeCoordinatesAreOutside) {
  target({4});
  group("tg", {{"x", 4}}, {number(2) - x});
  EXPECT_FALSE(checkGroups(program, diagnostics));
  EXPECT_NE(said().find("t[-1]"), std::string::npos) << said();
}

TEST_F(GroupsTest, BackwardsAndWrappedIsInside) {
  target({4, 4});
  group("tg", xy(4, 4), {number(3) - x, (y + number(1)) % number(4)});
  EXPECT_TRUE(checkGroups(program, diagnostics)) << said();
}

TEST_F(GroupsTest, OneTileTwice) {
  target({4, 4});
  group("tg", xy(2, 2), {x + y, number(0)});
  EXPECT_FALSE(checkGroups(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-group-repeats-tile"));
  EXPECT_NE(said().find("group 'tg' has tile t[1][0] twice"), std::string::npos) << said();
  EXPECT_NE(said().find("with x=0, y=1 and with x=1, y=0"), std::string::npos) << said();
}

TEST_F(GroupsTest, DiagonalNamesEveryTileOnce) {
  target({4, 4});
  group("tg", {{"x", 4}}, {x, x});
  EXPECT_TRUE(checkGroups(program, diagnostics)) << said();
  EXPECT_EQ(groupsText(program), "tg[x in 4]: t[x][x]\n");
}

TEST_F(GroupsTest, NestedGroupsMayShareWithTheirParent) {
  target({4, 8});
  Group& top = group("top_half", xy(2, 8), {x, y});
  group("row", {{"i", 2}, {"y", 8}}, {variable(2), variable(3)}, &top);
  EXPECT_TRUE(checkGroups(program, diagnostics)) << said();
  EXPECT_EQ(groupsText(program), "top_half[x in 2][y in 8]: t[0:2][0:8]\n"
                                 "top_half.row[i in 2][y in 8]: t[i][0:8] = t[0:2][0:8]\n");
}

TEST_F(GroupsTest, ChildOutsideItsParent) {
  target({4, 8});
  Group& top = group("top_half", xy(2, 8), {x, y});
  group("row", {{"i", 3}, {"y", 8}}, {variable(2), variable(3)}, &top);
  EXPECT_FALSE(checkGroups(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-group-outside-parent"));
  EXPECT_NE(said().find("only 'top_half.row' has tile t[2][0]"), std::string::npos) << said();
}

TEST_F(GroupsTest, SiblingsMustNotOverlap) {
  target({4, 8});
  Group& top = group("top", xy(4, 8), {x, y});
  group("a", {{"y", 8}}, {number(1), variable(2)}, &top);
  group("b", {{"x", 4}}, {variable(2), number(3)}, &top);
  EXPECT_FALSE(checkGroups(program, diagnostics));
  EXPECT_NE(said().find("groups 'top.a' and 'top.b' share tile t[1][3]"), std::string::npos) << said();
}

TEST_F(GroupsTest, NestedIndicesTellTilesApart) {
  target({4, 4});
  Group& grid = group("grid", {{"x", 4}}, {});
  group("row", {{"x", 4}}, {x, y}, &grid);
  EXPECT_TRUE(checkGroups(program, diagnostics)) << said();
  EXPECT_EQ(groupsText(program),
            "grid[x in 4]: holds groups only\ngrid.row[grid.x in 4][x in 4]: t[grid.x][0:4] = t[0:4][0:4]\n");
  Group& other = group("column", {{"x", 4}}, {number(0), y}, &grid);
  EXPECT_FALSE(checkGroups(program, diagnostics)); // every value of grid.x has the same four
  EXPECT_TRUE(saidCode("hbir-group-repeats-tile"));
  EXPECT_EQ(pathOf(other), "grid.column");
}

TEST_F(GroupsTest, ProductsOfIndicesCannotBeDecided) {
  target({16, 16});
  group("tg", xy(4, 4), {x * y, y});
  EXPECT_FALSE(checkGroups(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-group-undecided"));
}

TEST_F(GroupsTest, CoordinatesBeyond64BitsAreRefused) {
  target({16});
  group("tg", {{"x", 4}}, {x * number(int64_t(1) << 62) / number(int64_t(1) << 62)});
  EXPECT_FALSE(checkGroups(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-group-undecided"));
}

TEST_F(GroupsTest, BillionsOfTilesCostNothing) {
  const int64_t side = int64_t(1) << 31;
  target({side, side});
  group("left", xy(side, side / 2), {x, y});
  group("right", xy(side, side / 2), {x, y + number(side / 2)});
  EXPECT_TRUE(checkGroups(program, diagnostics)) << said();
  group("one", {}, {number(side - 1), number(side / 2)});
  EXPECT_FALSE(checkGroups(program, diagnostics));
  EXPECT_NE(said().find("groups 'right' and 'one' share tile t[2147483647][1073741824]"), std::string::npos) << said();
}

TEST_F(GroupsTest, AThousandGroupsAreCompared) {
  target({1000, 1000});
  for (int i = 0; i < 1000; ++i)
    group("g" + std::to_string(i), {{"y", 1000}}, {number(i), x});
  EXPECT_TRUE(checkGroups(program, diagnostics)) << said();
  diagnostics.clear();
  for (int i = 0; i < 1000; ++i)
    group("h" + std::to_string(i), {{"y", 1000}}, {number(i), x});
  EXPECT_FALSE(checkGroups(program, diagnostics));
  EXPECT_EQ(diagnostics.errorCount(), 32u); // more would say nothing new
}

TEST_F(GroupsTest, ManyInterleavedGroupsEndWithAnAnswer) {
  target({10'000'000});
  for (int i = 0; i < 200; ++i)
    group("g" + std::to_string(i), {{"x", 50'000}}, {x * number(200) + number(i)});
  EXPECT_TRUE(checkGroups(program, diagnostics) || saidCode("hbir-group-undecided")) << said();
}

/// Programs of random groups, judged tile by tile.
struct RandomGroups : GroupsTest {
  std::mt19937 random{7};
  int64_t pick(int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(random); }

  IndexExpression coordinate(unsigned variables) {
    IndexExpression sum = number(pick(0, 7) == 0 ? -1 : pick(0, 3));
    for (unsigned v = 0; v < variables; ++v)
      if (pick(0, 1) == 0)
        sum = sum + variable(v) * number(pick(0, 7) == 0 ? -1 : pick(1, 2));
    switch (pick(0, 7)) {
    case 0:
      return sum % number(pick(2, 6));
    case 1:
      return sum / number(pick(2, 3));
    default:
      return sum;
    }
  }

  void makeProgram() {
    program = Program();
    std::vector<int64_t> extents;
    for (int64_t d = pick(1, 3); d > 0; --d)
      extents.push_back(pick(3, 7));
    target(extents);
    std::vector<Group*> all;
    for (int64_t count = pick(1, 4); count > 0; --count) {
      Group* parent =
          !all.empty() && pick(0, 1) == 0 ? all[static_cast<size_t>(pick(0, int64_t(all.size()) - 1))] : nullptr;
      std::vector<GroupIndex> indices;
      for (int64_t i = pick(0, 2); i > 0; --i)
        indices.push_back({"v" + std::to_string(i), pick(1, 4)});
      Group& made = group("g" + std::to_string(all.size()), indices, {}, parent);
      const auto variables = static_cast<unsigned>(variablesOf(made).size());
      if (pick(0, 5) != 0)
        for (size_t d = 0; d < extents.size(); ++d)
          made.tile.push_back(coordinate(variables));
      all.push_back(&made);
    }
  }

  struct Truth {
    std::set<std::string> outside, repeats, outsideParent;
    std::set<std::pair<std::string, std::string>> overlaps;
  };
  std::map<const Group*, std::set<std::vector<int64_t>>> tiles;

  Truth judge() {
    Truth truth;
    tiles.clear();
    for (const Group& each : program.groups) {
      if (each.tile.empty())
        continue;
      // Indices of an ancestor with tiles that are not used do not repeat a tile.
      std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> seen;
      std::set<std::vector<int64_t>> mine;
      std::vector<int64_t> extents;
      for (const GroupIndex& index : variablesOf(each))
        extents.push_back(index.extent);
      std::map<std::vector<int64_t>, std::set<std::vector<int64_t>>> users;
      const std::vector<bool> telling = tellingVariables(each);
      bool inside = true;
      forEach(extents, [&](std::vector<int64_t> values) {
        std::vector<int64_t> tile;
        for (size_t d = 0; d < each.tile.size(); ++d) {
          tile.push_back(*each.tile[d].evaluate(values));
          inside = inside && tile[d] >= 0 && tile[d] < program.target.extents[d];
        }
        for (size_t i = 0; i < values.size(); ++i)
          if (!telling[i])
            values[i] = 0;
        users[tile].insert(values);
        mine.insert(tile);
      });
      bool once = true;
      for (const auto& [tile, by] : users)
        once = once && by.size() == 1;
      if (!inside)
        truth.outside.insert(pathOf(each));
      else if (!once)
        truth.repeats.insert(pathOf(each));
      else
        tiles[&each] = mine;
    }
    for (auto a = program.groups.begin(); a != program.groups.end(); ++a) {
      if (!tiles.count(&*a))
        continue;
      const Group* parent = a->parent;
      while (parent && parent->tile.empty())
        parent = parent->parent;
      if (parent && tiles.count(parent))
        for (const auto& tile : tiles[&*a])
          if (!tiles[parent].count(tile))
            truth.outsideParent.insert(pathOf(*a));
      for (auto b = std::next(a); b != program.groups.end(); ++b) {
        bool related = false;
        for (const Group* up = b->parent; up; up = up->parent)
          related = related || up == &*a;
        if (related || !tiles.count(&*b))
          continue;
        for (const auto& tile : tiles[&*a])
          if (tiles[&*b].count(tile))
            truth.overlaps.insert({pathOf(*a), pathOf(*b)});
      }
    }
    return truth;
  }

  /// What was reported, by the names in the messages.
  Truth reported() const {
    Truth truth;
    for (const Diagnostic& diagnostic : diagnostics.all()) {
      std::vector<std::string> names;
      for (size_t at = 0; (at = diagnostic.message.find('\'', at)) != std::string::npos;) {
        const size_t end = diagnostic.message.find('\'', at + 1);
        names.push_back(diagnostic.message.substr(at + 1, end - at - 1));
        at = end + 1;
      }
      const std::string code = diagnostic.kind->code;
      if (code == "hbir-group-outside")
        truth.outside.insert(names[0]);
      else if (code == "hbir-group-repeats-tile")
        truth.repeats.insert(names[0]);
      else if (code == "hbir-group-outside-parent")
        truth.outsideParent.insert(names[0]);
      else if (code == "hbir-groups-overlap")
        truth.overlaps.insert({names[0], names[1]});
      else
        ADD_FAILURE() << diagnostic.message;
    }
    return truth;
  }
};

TEST_F(RandomGroups, AreJudgedAsTileByTile) {
  int right = 0, overlapping = 0, parents = 0;
  for (int round = 0; round < 3000; ++round) {
    makeProgram();
    diagnostics.clear();
    const bool accepted = checkGroups(program, diagnostics);
    const Truth expected = judge(), got = reported();
    ASSERT_EQ(got.outside, expected.outside) << groupsText(program) << said();
    ASSERT_EQ(got.repeats, expected.repeats) << groupsText(program) << said();
    ASSERT_EQ(got.outsideParent, expected.outsideParent) << groupsText(program) << said();
    ASSERT_EQ(got.overlaps, expected.overlaps) << groupsText(program) << said();
    right += accepted;
    overlapping += !expected.overlaps.empty();
    parents += !expected.outsideParent.empty();
  }
  EXPECT_GT(right, 300);
  EXPECT_GT(overlapping, 100);
  EXPECT_GT(parents, 30);
}

TEST_F(RandomGroups, HaveTheRangesOfTheirTiles) {
  int products = 0;
  for (int round = 0; round < 3000; ++round) {
    makeProgram();
    for (const Group& each : program.groups) {
      std::vector<int64_t> extents;
      std::vector<bool> fixed;
      std::vector<int64_t> chosen;
      for (const GroupIndex& index : variablesOf(each)) {
        extents.push_back(index.extent);
        fixed.push_back(pick(0, 2) == 0);
        chosen.push_back(pick(0, index.extent - 1));
      }
      const auto ranges = tileRanges(each, fixed);
      if (!ranges)
        continue;
      ++products;
      std::set<std::vector<int64_t>> direct, ranged;
      forEach(extents, [&](const std::vector<int64_t>& values) {
        for (size_t i = 0; i < values.size(); ++i)
          if (fixed[i] && values[i] != chosen[i])
            return;
        std::vector<int64_t> tile;
        for (const IndexExpression& coordinate : each.tile)
          tile.push_back(*coordinate.evaluate(values));
        direct.insert(tile);
      });
      std::vector<int64_t> counts, begins;
      for (const TileRange& range : *ranges) {
        begins.push_back(*range.begin.evaluate(chosen));
        counts.push_back((*range.end.evaluate(chosen) - begins.back() + range.step - 1) / range.step);
      }
      forEach(counts, [&](std::vector<int64_t> at) {
        for (size_t d = 0; d < at.size(); ++d)
          at[d] = begins[d] + at[d] * (*ranges)[d].step;
        ranged.insert(at);
      });
      ASSERT_EQ(direct, ranged) << groupsText(program);
    }
  }
  EXPECT_GT(products, 2000);
}

} // namespace
} // namespace strata::hbir
