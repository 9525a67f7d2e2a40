// How many instances of each variable are kept while equations are computed in an order: one for values that an
// iteration uses itself, a few steps along one dimension, or all. Takes a graph and the times of its nodes; plain data
// comes out. Throws isl::exception.
#pragma once

#include "compiler/equations/order.h"

#include <vector>

namespace strata::equations {

/// An instance at iteration I lies at (I[dimensions[0]] - lower mod steps, I[dimensions[1]] - lower, …); bounds are
/// those of the iterations that define the variable.
struct Storage {
  std::vector<unsigned> dimensions; // none: one cell
  int64_t steps = 0;                // of the first dimension; 0: all
};

/// One for each variable of the graph.
std::vector<Storage> planStorage(const Graph& graph, const std::vector<Time>& times,
                                 const std::vector<Dependence>& dependences);

} // namespace strata::equations
