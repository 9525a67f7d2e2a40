// How many processors each loop of a graph of instances can be distributed to: those that the code around it has, all
// of them at the outermost level and then what loops and changes of level leave. Changes nothing.
#pragma once

#include "compiler/sequoia/resolve/resolve.h"

namespace strata::sequoia {

/// For each instance and each of its loops, by index. An instance with several callers has what the least of them
/// leaves. Processors are numbered as runtime/abi.h says at strata_spmd.
std::vector<std::vector<int64_t>> processorSpans(const InstanceGraph& graph, const Machine& machine);

/// The parts that a loop is distributed to: as its mapping says, or, where that is left open, as many as there are
/// processors left; 0: it is not distributed.
int64_t waysOf(const ResolvedLoop& loop, int64_t span);

} // namespace strata::sequoia
