// Brings a system of affine equations into uniform form (graph.h): reductions become variables that run along their
// iterators, variables of fewer dimensions get a home in the iteration space (embedding), and uses at distances that
// change from iteration to iteration become values that are passed on from neighbour to neighbour (localisation).
// Inputs and outputs stay at affine indices. Checks on the way what only the whole program shows: that every instance
// is defined once, and every used one at all.
//
// Source: Thiele 1989, "On the design of piecewise regular processor arrays"; Teich and Thiele 1991. The sets are
// computed exactly by isl.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/equations/graph.h"
#include "compiler/equations/system.h"

#include <optional>

namespace strata::equations {

/// Nothing on errors (reported).
std::optional<Graph> uniform(const System& system, DiagnosticEngine& diagnostics);

} // namespace strata::equations
