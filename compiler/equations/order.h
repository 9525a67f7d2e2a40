// In which order equations can be computed: loops around groups of nodes, such that every value is computed before it is
// used. Takes a verified graph; isl decides which dependences exist. Used by one thread.
//
// Source: Karp, Miller and Winograd 1967, for the decomposition; the directions are tried in a fixed order.
#pragma once

#include "compiler/equations/graph.h"

#include <optional>
#include <vector>

namespace strata::equations {

/// The value of `from` at I - distance is used by `to` at I, in some iteration for some sizes.
struct Dependence {
  uint32_t from = 0, to = 0;
  std::vector<int64_t> distance;
};

/// All of them. Throws isl::exception.
std::vector<Dependence> dependences(const Graph& graph);

/// Nodes that are computed by one loop nest: iteration I comes at (directions[0]·I, directions[1]·I, …), outermost
/// first; within one iteration the nodes in their order.
struct Nest {
  std::vector<std::vector<int64_t>> directions; // one for each iterator, linearly independent
  std::vector<uint32_t> nodes;
};

/// Nests one after the other: one for all nodes where one order suits them all, else one for each group of nodes that
/// depend on each other. Nothing where a value would depend on itself, or no order was found; `stuck` then holds a node
/// of that group. Throws isl::exception.
std::optional<std::vector<Nest>> order(const Graph& graph, uint32_t& stuck);

} // namespace strata::equations
