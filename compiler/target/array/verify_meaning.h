// Does a symbolic configuration compute what its loop program says? From each output backwards, what instructions do is
// compared with the equations, for all iterations and sizes at once: that an instruction computes a variable's
// instances is a claim, which follows from the same claims on its operands. Beside verify_symbolic.h, which asks
// whether values find their ways; of what was made on the way from one to the other nothing is used. Used by one
// thread.
//
// Coinduction on equations: claims that are made already need no second proof, since whatever is computed was so in an
// earlier iteration, or before in this one.
#pragma once

#include "compiler/equations/graph.h"
#include "compiler/target/array/verify_symbolic.h"

namespace strata::array {

/// REQUIRES: verify(symbolic, array) has nothing against the configuration, and the graph verifies; its iterators are
/// the configuration's loops.
Verdict verifyMeaning(const equations::Graph& graph, const Symbolic& symbolic);

} // namespace strata::array
