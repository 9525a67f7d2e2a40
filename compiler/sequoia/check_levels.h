// Rules on where the instances of a resolved mapping stand: control beside the data it touches, calls that go downwards, leaves
// where processors compute, and recursion that ends.
#pragma once

#include "compiler/sequoia/resolve.h"

namespace strata::sequoia {

void checkLevels(const InstanceGraph& graph, const Machine& machine, DiagnosticEngine& diagnostics);

} // namespace strata::sequoia
