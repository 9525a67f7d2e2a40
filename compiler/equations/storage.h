// How many instances of each variable are kept while equations are computed in an order: one for values that an
// iteration uses itself, a few steps along one dimension, or all; in as few dimensions as tell them apart. Takes a
// system and the times of its equations; plain data comes out. Throws isl::exception.
#pragma once

#include "compiler/equations/order.h"

#include <vector>

namespace strata::equations {

/// An instance x lies at (x[dimensions[0]] - lower mod steps, x[dimensions[1]] - lower, …); bounds are those of the
/// instances that are defined.
struct Storage {
  std::vector<unsigned> dimensions; // none: one cell
  int64_t steps = 0;                // of the first dimension; 0: all
};

/// One for each variable of the system; inputs and outputs have none. REQUIRES: flows and times are the system's, with
/// these polyhedra.
std::vector<Storage> planStorage(const System& system, const Polyhedra& polyhedra, const std::vector<Time>& times,
                                 const std::vector<Flow>& flows);

} // namespace strata::equations
