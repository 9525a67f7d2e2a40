// Iterations over blocks whose number is rounded down: a warning that elements of an array are left out.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/sequoia/resolve/sizes.h"

namespace strata::sequoia {

/// Warns where the iterations of the entry leave elements out, since a tunable does not divide a size that is known.
void warnOfUncovered(const InstanceGraph& graph, const KnownSizes& known, DiagnosticEngine& diagnostics);

} // namespace strata::sequoia
