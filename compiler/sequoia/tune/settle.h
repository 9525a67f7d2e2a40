// Chooses the tunables of a graph so that its divisions leave no remainder: a tunable divides what it has to divide, at
// every level; maxima are large enough; what depends on sizes that only a run knows is left to the instance's first
// instructions.
#pragma once

#include "compiler/sequoia/tune/rehearse.h"

#include <functional>

namespace strata::sequoia {

struct SettleOptions {
  const KnownSizes& known; // the program is executed with these; others are left to the run
  bool isLimited = false;  // some memory is
  std::function<bool()> fits;
};

/// Changes tunables until a rehearsal finds nothing wrong. Nothing (with messages) where that cannot be reached.
std::optional<Rehearsal> settleTunables(InstanceGraph& graph, const SettleOptions& options,
                                        DiagnosticEngine& diagnostics);

/// The greatest divisor of a number that is not above a limit; 1 at the least.
int64_t largestDivisor(int64_t number, int64_t limit);

/// Tells which arrays the tasks that write them leave elements of, more or fewer with other tunables: what is computed
/// would follow from the choice. False: there is one.
bool reportUncovered(InstanceGraph& graph, const SettleOptions& options, DiagnosticEngine& diagnostics);

} // namespace strata::sequoia
