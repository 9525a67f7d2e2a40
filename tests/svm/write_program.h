// Writes a random graph as people write programs: in C, in three files, with loops, compound literals, names that are
// given in loops, and numbers from the header of a machine. One thread.
#pragma once

#include "tests/svm/graph.h"

#include <optional>
#include <string>

namespace strata::graphs {

/// Lays a stream where another one is by accident, and lets it say that it shares with nobody. False when the graph has
/// no two streams for that.
bool shareByAccident(Graph& graph);

/// Writes entities.h, entities.c, kernels.c, main.c, and what the program prints as `expected`, into a folder. False
/// when that cannot be written.
bool writeProgram(const Graph& graph, const std::string& folder);

} // namespace strata::graphs
