// Groups of a large graph: each node is in one of them, they have the sizes that are asked for, and every box of a
// sheet opens another one.
#include "base/picture/groups.h"
#include "base/picture/svg.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

namespace strata::picture {
namespace {

std::vector<size_t> upTo(size_t count) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t(0));
  return all;
}

std::vector<std::string> named(size_t count, const std::string& stem) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back(stem + std::to_string(i));
  return names;
}

void eachIsInOne(const std::vector<Group>& groups, size_t count, const GroupSizes& sizes) {
  std::multiset<size_t> nodes;
  size_t largest = 0;
  for (const Group& group : groups) {
    EXPECT_FALSE(group.name.empty());
    EXPECT_FALSE(group.nodes.empty());
    nodes.insert(group.nodes.begin(), group.nodes.end());
    largest = std::max(largest, group.nodes.size());
  }
  EXPECT_EQ(nodes.size(), count);
  EXPECT_EQ(std::set<size_t>(nodes.begin(), nodes.end()).size(), count);
  EXPECT_LE(groups.size(), sizes.groups);
  if (count <= sizes.nodes * sizes.groups / 4)
    EXPECT_LE(largest, sizes.nodes);
}

TEST(Groups, KindsShareTheNameBeforeTheNumber) {
  EXPECT_EQ(stemOf("workers[12]"), "workers");
  EXPECT_EQ(stemOf("spe 3 of 8"), "spe");
  EXPECT_EQ(stemOf("plain"), "plain");
  EXPECT_EQ(stemOf("7up"), "7up");
  EXPECT_EQ(stemOf(""), "");
}

TEST(Groups, ByKeyInTheOrderThatPeopleRead) {
  const std::vector<std::string> names = named(200, "fir");
  std::vector<std::string> keys(200, "fir");
  const std::vector<Group> groups = groupsByKey(upTo(200), names, keys, {});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].name, "fir0 … fir65");
  EXPECT_EQ(groups[2].name, "fir133 … fir199");
  keys.assign(100, "a");
  keys.resize(200, "b");
  EXPECT_EQ(groupsByKey(upTo(200), names, keys, {100, 10})[1].name, "b");
  // As many kinds as nodes: neighbours are joined.
  const std::vector<Group> joined = groupsByKey(upTo(200), names, names, {20, 12});
  eachIsInOne(joined, 200, {20, 12});
  EXPECT_EQ(joined.front().name, "fir0 … fir19");
}

TEST(Groups, ByEdges) {
  // A tree of three below each.
  std::vector<LayerEdge> edges;
  for (size_t i = 1; i < 1000; ++i)
    edges.push_back({(i - 1) / 3, i});
  const std::vector<Group> tree = groupsByEdges(upTo(1000), named(1000, "T"), edges, {40, 60});
  eachIsInOne(tree, 1000, {40, 200});
  EXPECT_EQ(tree.front().nodes.front(), 0u); // what nothing leads to comes first
  EXPECT_EQ(tree.front().name, "T0 and below");
  // All below one.
  edges.clear();
  for (size_t i = 1; i < 1000; ++i)
    edges.push_back({0, i});
  const std::vector<Group> flat = groupsByEdges(upTo(1000), named(1000, "T"), edges, {40, 60});
  eachIsInOne(flat, 1000, {40, 60});
  EXPECT_EQ(flat.back().name, "T1 … T39");
}

TEST(Groups, RandomGraphsAreCoveredInEveryWay) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const size_t count = 1 + random() % 400;
    LargeGraph graph;
    graph.title = "random";
    graph.kind = "things";
    graph.relation = "ways";
    graph.names = named(count, "n");
    graph.sizes = {1 + random() % 30, 2 + random() % 20};
    for (size_t i = random() % (2 * count + 1); i-- > 0;)
      graph.edges.push_back({random() % count, random() % count}); // also to itself, twice, and in circles
    std::multiset<size_t> drawn;
    graph.draw = [&](const std::vector<size_t>& nodes, const std::vector<Neighbour>& neighbours, const std::string&) {
      drawn.insert(nodes.begin(), nodes.end());
      Svg svg;
      for (const auto& [node, sheet] : neighbours) {
        EXPECT_EQ(std::count(nodes.begin(), nodes.end(), node), 0);
        svg.rectangle(0, 0, 9, 9, "data-sheet=\"" + escape(sheet) + "\"");
      }
      return svg.document("part", 20);
    };
    Grouping byKey{"keys", "by key", {}};
    for (size_t i = 0; i < count; ++i)
      byKey.keys.push_back(std::to_string(random() % 9));
    for (const Grouping& grouping : {byKey, Grouping{"ways", "by way", {}}}) {
      drawn.clear();
      const std::vector<Sheet> sheets = sheetsOf(graph, {grouping});
      EXPECT_EQ(drawn.size(), count);
      EXPECT_EQ(std::set<size_t>(drawn.begin(), drawn.end()).size(), count);
      std::set<std::string> ids, opened;
      const std::string opens = "data-sheet=\"";
      for (const Sheet& sheet : sheets) {
        EXPECT_TRUE(ids.insert(sheet.id).second);
        EXPECT_EQ(sheet.isTop, &sheet == &sheets.front());
        for (size_t at = 0; (at = sheet.drawing.find(opens, at)) != std::string::npos;) {
          at += opens.size();
          opened.insert(sheet.drawing.substr(at, sheet.drawing.find('"', at) - at));
        }
      }
      for (const std::string& id : opened)
        EXPECT_TRUE(ids.contains(id)) << id;
      // All but the first are opened from somewhere.
      opened.insert(sheets.front().id);
      EXPECT_EQ(opened, ids);
    }
  }
}

} // namespace
} // namespace strata::picture
