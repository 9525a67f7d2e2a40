// Whether a graph keeps the rules of graph.h: each instance is defined once, every used one is defined, indices lie
// within inputs and outputs, every element of an output is defined, and some order of computation exists. Shares
// nothing with uniform.cpp but the conversion to isl's sets. Used by one thread.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/equations/graph.h"

namespace strata::equations {

/// False on errors (reported).
bool verify(const Graph& graph, DiagnosticEngine& diagnostics);

} // namespace strata::equations
