// Which loop of a nest is distributed over processors, when it is known how many iterations each has: the outermost
// that has enough for all of them. A mapping is made with the outermost, which is best where it has enough.
#pragma once

#include "compiler/sequoia/mapping/mapping.h"
#include "compiler/sequoia/resolve/sizes.h"

namespace strata::sequoia {

/// Changes a mapping whose tunables have been chosen in the graph made of it. Where a loop that is distributed has
/// fewer iterations than parts, the outermost loop inside that has enough is distributed in its place, else the one
/// with the most. Of parts whose number is left open (`auto`), 16 are enough; where caches are the memory, one for each
/// processor, and loops inside count with the blocks that they would have then. False where nothing changed.
bool redistribute(const InstanceGraph& graph, const Machine& machine, const KnownSizes& known, Mapping& mapping);

} // namespace strata::sequoia
