// In which order equations can be computed: loops around groups of them, and inside of them loops around smaller
// groups, such that every value is computed before it is used. Takes a verified system; isl decides which values are
// used where. Used by one thread.
//
// Source: Karp, Miller and Winograd 1967, "The organization of computations for uniform recurrence equations", for the
// decomposition into groups level by level. Short directions are tried first; where none suits, direction.h looks for
// all. For distances that change from iteration to iteration, see hull.h.
#pragma once

#include "compiler/equations/polyhedra.h"
#include "compiler/equations/system.h"

#include <optional>
#include <vector>

namespace strata::equations {

/// The value of node `from` at I - distance is used by `to` at I, in some iteration for some sizes.
struct Dependence {
  uint32_t from = 0, to = 0;
  std::vector<int64_t> distance;
};

/// All of a graph. Throws isl::exception.
std::vector<Dependence> dependences(const Graph& graph);

/// Equation `to` uses instances that `from` defines: the iterations in which it does, by those that define them.
struct Flow {
  uint32_t from = 0, to = 0;
  isl::map iterations;
  const Expression* element = nullptr; // the use, in the system
};

/// All of a system, one for each use and definition that meet for some sizes; they refer to both arguments, which
/// outlive them. Throws isl::exception.
std::vector<Flow> flows(const System& system, const Polyhedra& polyhedra);

/// When an equation is computed: iteration I comes at (places[0], directions[0]·I + shifts[0], places[1],
/// directions[1]·I + shifts[1], …, places[n]), in lexicographic order over all equations. Those with equal places up to
/// a level share the loops up to there, and their directions.
struct Time {
  std::vector<std::vector<int64_t>> directions; // one for each iterator, linearly independent
  std::vector<int64_t> shifts;                  // one for each direction
  std::vector<size_t> places;                   // one more
};

/// Equations that wait for each other in a circle.
struct Circle {
  std::vector<uint32_t> equations;
  bool isProved = true; // there is no order by loops: all distances in it are constants
};

/// One for each equation. Nothing where none is found; `circle` then says why. REQUIRES: the flows are the system's,
/// with these polyhedra. Throws isl::exception.
std::optional<std::vector<Time>> order(const System& system, const Polyhedra& polyhedra, const std::vector<Flow>& flows,
                                       Circle& circle);

} // namespace strata::equations
