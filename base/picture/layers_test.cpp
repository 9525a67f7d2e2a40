// Layered drawings of graphs: boxes never overlap, edges lead from box to box, and graphs of every shape are drawn.
#include "base/picture/layers.h"

#include <gtest/gtest.h>

#include <random>

namespace strata::picture {
namespace {

struct Graph {
  std::vector<LayerNode> nodes;
  std::vector<LayerEdge> edges;
};

LayerDrawing check(const Graph& graph) {
  LayerDrawing drawing = drawLayers(graph.nodes, graph.edges);
  EXPECT_EQ(drawing.nodes.size(), graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Point a = drawing.nodes[i];
    EXPECT_GE(a.x, -1e-6);
    EXPECT_LE(a.x + graph.nodes[i].width, drawing.width + 1e-6);
    EXPECT_LE(a.y + graph.nodes[i].height, drawing.height + 1e-6);
    for (size_t k = 0; k < i; ++k) {
      const Point b = drawing.nodes[k];
      const bool apart = a.x + graph.nodes[i].width <= b.x + 1e-6 || b.x + graph.nodes[k].width <= a.x + 1e-6 ||
                         a.y + graph.nodes[i].height <= b.y + 1e-6 || b.y + graph.nodes[k].height <= a.y + 1e-6;
      EXPECT_TRUE(apart) << "boxes " << k << " and " << i << " overlap";
    }
  }
  EXPECT_EQ(drawing.edges.size(), graph.edges.size());
  const auto touches = [&](const Point& point, size_t node) {
    const Point corner = drawing.nodes[node];
    return point.x >= corner.x - 1e-6 && point.x <= corner.x + graph.nodes[node].width + 1e-6 &&
           point.y >= corner.y - 1e-6 && point.y <= corner.y + graph.nodes[node].height + 1e-6;
  };
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    EXPECT_GE(drawing.edges[i].size(), 2u);
    EXPECT_TRUE(touches(drawing.edges[i].front(), graph.edges[i].from)) << "edge " << i;
    EXPECT_TRUE(touches(drawing.edges[i].back(), graph.edges[i].to)) << "edge " << i;
  }
  return drawing;
}

TEST(Layers, AChainGoesStraightDown) {
  const LayerDrawing drawing = check({{{100, 20}, {60, 20}, {100, 20}}, {{0, 1}, {1, 2}}});
  EXPECT_NEAR(drawing.nodes[0].x, 0, 1e-6);
  EXPECT_NEAR(drawing.nodes[1].x, 20, 1e-6);
  EXPECT_LT(drawing.nodes[0].y, drawing.nodes[1].y);
  EXPECT_LT(drawing.nodes[1].y, drawing.nodes[2].y);
  EXPECT_NEAR(drawing.width, 100, 1e-6);
}

TEST(Layers, BranchesThatJoinDoNotCross) {
  // Listed so that the order of the numbers would cross: 0 leads to 1 and 2, which lead to 4 and 3, these to 5.
  const LayerDrawing drawing =
      check({std::vector<LayerNode>(6, {50, 20}), {{0, 1}, {0, 2}, {1, 4}, {2, 3}, {4, 5}, {3, 5}}});
  EXPECT_EQ(drawing.nodes[1].x < drawing.nodes[2].x, drawing.nodes[4].x < drawing.nodes[3].x);
}

TEST(Layers, AnEdgeThatLeadsBackGoesUp) {
  const LayerDrawing drawing = check({std::vector<LayerNode>(3, {50, 20}), {{0, 1}, {1, 2}, {2, 0}, {1, 1}}});
  EXPECT_GT(drawing.edges[2].front().y, drawing.edges[2].back().y);
  EXPECT_LT(drawing.edges[0].front().y, drawing.edges[0].back().y);
}

TEST(Layers, NothingAndSingleBoxes) {
  check({});
  check({{{10, 10}}, {}});
  check({std::vector<LayerNode>(5, {10, 10}), {}});
}

TEST(Layers, BoxesWithoutEdgesStandInRowsBelow) {
  Graph graph{std::vector<LayerNode>(300, LayerNode{100, 40}), {{0, 299}, {299, 1}}};
  const LayerDrawing drawing = check(graph);
  EXPECT_LE(drawing.width, 1000);
  for (size_t i = 2; i < 299; ++i)
    EXPECT_GT(drawing.nodes[i].y, drawing.nodes[1].y);
}

TEST(Layers, RandomGraphs) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    Graph graph;
    const size_t count = 1 + random() % 40;
    for (size_t i = 0; i < count; ++i)
      graph.nodes.push_back({10.0 + static_cast<double>(random() % 100), 10.0 + static_cast<double>(random() % 40)});
    for (size_t i = random() % (2 * count); i > 0; --i)
      graph.edges.push_back({random() % count, random() % count});
    check(graph);
  }
}

TEST(Layers, AChainOfThousandsIsWalkedWithoutRecursion) {
  Graph graph;
  graph.nodes.assign(20000, {10, 10});
  for (size_t i = 0; i + 1 < graph.nodes.size(); ++i)
    graph.edges.push_back({i, i + 1});
  EXPECT_NEAR(drawLayers(graph.nodes, graph.edges).width, 10, 1e-6);
}

} // namespace
} // namespace strata::picture
