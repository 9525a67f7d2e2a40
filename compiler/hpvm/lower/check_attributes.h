// Whether leaves keep to what their attributes say, as far as can be seen before they run.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/hpvm/graph/graph.h"

namespace strata::hpvm {

/// Stores, copies and atomic operations of a leaf, and of the functions that it calls, to memory of a pointer argument
/// that the leaf does not list as written. Writes that cannot be told to go to one argument are passed over. False on
/// errors (reported, one for each argument).
bool keepsToAttributes(const LeafNode& leaf, DiagnosticEngine& diagnostics);

} // namespace strata::hpvm
