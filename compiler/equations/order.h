// In which order equations can be computed: loops around groups of nodes, and inside of them loops around smaller
// groups, such that every value is computed before it is used. Takes a verified graph; isl decides which dependences
// exist. Used by one thread.
//
// Source: Karp, Miller and Winograd 1967, "The organization of computations for uniform recurrence equations", for the
// decomposition into groups level by level. Short directions are tried first; where none suits, direction.h is exact.
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

/// When a node is computed: iteration I comes at (places[0], directions[0]·I + shifts[0], places[1], directions[1]·I +
/// shifts[1], …, places[n]), in lexicographic order over all nodes. Nodes with equal places up to a level share the
/// loops up to there, and their directions.
struct Time {
  std::vector<std::vector<int64_t>> directions; // one for each iterator, linearly independent
  std::vector<int64_t> shifts;                  // one for each direction
  std::vector<size_t> places;                   // one more
};

/// One for each node. Nothing where values wait for each other in a circle, so that there is no order; `stuck` then
/// holds the nodes of the circle. Throws isl::exception.
std::optional<std::vector<Time>> order(const Graph& graph, std::vector<uint32_t>& stuck);

} // namespace strata::equations
