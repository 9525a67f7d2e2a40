// Chooses the tunables of a graph of instances: blocks as large as the memories (or, where memory is not limited, the
// caches) take, and preconditions on arrays of the entry that must be bounded to be taken at all.
#pragma once

#include "compiler/sequoia/resolve/sizes.h"

namespace strata::sequoia {

/// Iterations of a parallel loop, at least, when sizes are known and nobody says in how many parts it is distributed.
inline constexpr int64_t partsWanted = 16;

/// Processors that run what is placed at a level.
int64_t processorsAt(const Machine& machine, unsigned level);

/// Sets tunables and adds preconditions. Seven eighths of each memory are filled, halved `halvings` times; where
/// memories are caches, a leaf's arrays take what the machine's figures call a block, or near by where the entry's
/// sizes are not all known. `anySizes`: the known sizes are what is usual, and calls may have others. False (with
/// messages) when nothing fits.
bool tune(InstanceGraph& graph, const Machine& machine, const KnownSizes& known, DiagnosticEngine& diagnostics,
          unsigned halvings, bool anySizes);

/// Writes a graph's tunables and preconditions into the mapping that it was resolved from.
void adopt(const InstanceGraph& graph, Mapping& mapping);

} // namespace strata::sequoia
