// Brings a system of affine equations into uniform form (graph.h), which processor arrays take: variables of fewer
// dimensions get a home in the iteration space (embedding), and uses at distances that change from iteration to
// iteration become values that are passed on from neighbour to neighbour (localisation). Inputs and outputs stay at
// affine indices.
//
// Source: Thiele 1989, "On the design of piecewise regular processor arrays"; Teich and Thiele 1991. The sets are
// computed exactly by isl.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/equations/graph.h"
#include "compiler/equations/system.h"

#include <optional>

namespace strata::equations {

/// Nothing where values cannot be passed on (reported). REQUIRES: the system holds no reductions and verifies.
std::optional<Graph> uniform(const System& system, DiagnosticEngine& diagnostics);

} // namespace strata::equations
