// Graphs that are too large for one drawing. Their nodes are put into groups: those with one key, such as a name
// without its numbers, or those below one node, such as the tasks that one task calls. A drawing shows groups as boxes;
// a click on a box opens the groups in it, or its nodes one by one. Pure; any thread.
#pragma once

#include "base/picture/html.h"
#include "base/picture/layers.h"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace strata::picture {

/// Nodes that are drawn as one box.
struct Group {
  std::string name;
  std::vector<size_t> nodes;
};

/// How many nodes and how many groups one drawing shows at most. Where both cannot be kept, groups get more nodes.
struct GroupSizes {
  size_t nodes = 80;
  size_t groups = 64;
};

/// The part of a name that things of one kind share: what stands before its first number, without the sign between,
/// as `fir` of `fir[12]`. The whole name where it begins with a number or has none.
std::string stemOf(const std::string& name);

/// Nodes that have one key are a group; large ones are cut into ranges in the natural order of names, neighbours in the
/// order of keys are joined where there are too many. `names` and `keys` are those of all nodes.
std::vector<Group> groupsByKey(const std::vector<size_t>& nodes, const std::vector<std::string>& names,
                               const std::vector<std::string>& keys, const GroupSizes& sizes);

/// Each group is a node with the nodes below it, or several nodes below one. `edges` are those of all nodes.
std::vector<Group> groupsByEdges(const std::vector<size_t>& nodes, const std::vector<std::string>& names,
                                 const std::vector<LayerEdge>& edges, const GroupSizes& sizes);

/// A node of another group that a drawing shows, and the sheet that shows it among its own.
using Neighbour = std::pair<size_t, std::string>;

struct LargeGraph {
  std::string title;              // of the whole
  std::string kind;               // what its nodes are, as in "12 tasks"
  std::string relation;           // what an edge is, as in "12 calls"
  std::vector<std::string> names; // of the nodes
  std::vector<LayerEdge> edges;   // some may be the same
  GroupSizes sizes;
  /// Nodes one by one, with some of those that they have edges with. Called once for each group.
  std::function<std::string(const std::vector<size_t>& nodes, const std::vector<Neighbour>& neighbours,
                            const std::string& title)>
      draw;
  /// What a group's box says beside its name and size, a line each; may be empty.
  std::function<std::vector<std::string>(const std::vector<size_t>& nodes)> describe;
};

/// One way of making groups. A reader chooses between them.
struct Grouping {
  std::string id, title;
  std::vector<std::string> keys; // of the nodes; empty: by edges
};

/// The sheets of a graph: for each grouping one that shows all groups, and those that clicks open.
std::vector<Sheet> sheetsOf(const LargeGraph& graph, const std::vector<Grouping>& groupings);

} // namespace strata::picture
