// Whether a system of equations keeps its rules: each instance and each element is defined once, every used one is
// defined, indices lie within inputs and outputs, every element of an output is defined, and some order of computation
// is found. Graphs are checked as the systems that they are, so that nothing is shared with uniform.cpp but the
// conversion to isl's sets. Used by one thread.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/equations/system.h"

namespace strata::equations {

/// False on errors (reported). REQUIRES: no reductions.
bool verify(const System& system, DiagnosticEngine& diagnostics);
bool verify(const Graph& graph, DiagnosticEngine& diagnostics);

} // namespace strata::equations
