// A layered drawing of a directed graph: boxes in rows, edges from row to row (the method of Sugiyama, Tagawa and Toda,
// 1981). Cycles are broken at the back edges of a depth-first walk. The row of a box follows from the longest path to
// it, its place in the row from repeated medians of its neighbours. Positions are those nearest to the neighbours' by
// least squares that keep the order, found by pooling adjacent violators. Boxes without edges stand below all others,
// in rows as wide as a page. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace strata::picture {

struct LayerNode {
  double width = 0, height = 0;
};

struct LayerEdge {
  size_t from = 0, to = 0; // numbers of nodes
};

struct Point {
  double x = 0, y = 0;
};

struct LayerDrawing {
  std::vector<Point> nodes; // upper left corners
  /// From the edge of one box to that of the other, by way of places between other boxes. At least two points, in the
  /// direction of the edge; an edge that leads back goes upwards.
  std::vector<std::vector<Point>> edges;
  double width = 0, height = 0;
};

struct LayerSpacing {
  double across = 24; // between the boxes of a row
  double down = 48;   // between rows
};

/// Pixels, from (0, 0). The same graph gives the same drawing. Time grows with the number of rows that edges cross;
/// REQUIRES: edges name nodes.
LayerDrawing drawLayers(const std::vector<LayerNode>& nodes, const std::vector<LayerEdge>& edges,
                        const LayerSpacing& spacing = {});

/// An edge in SVG's path language, moved by (x, y): straight lines down and curves between them.
std::string curveAlong(const std::vector<Point>& points, double x, double y);

} // namespace strata::picture
