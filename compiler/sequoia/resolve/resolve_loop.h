// Parts of resolving that look at one thing: what a mapping says about a loop, and who counts selections; and the two
// ways of saying that a directive has no effect: an error when it would matter, a remark when it cannot change a
// result.
#pragma once

#include "compiler/sequoia/resolve/resolve.h"

namespace strata::sequoia {

/// Parts that a parallel reduction is split into on processors that share memory, where nobody says how many: fixed,
/// since it sets the rounding, and results must not depend on how many cores a computer has.
constexpr int64_t reductionWays = 16;
/// Whether the processors of a level share all memory, so that they take any number of parts in turns. Those with
/// stores, at this level or below it, are told apart.
bool shareMemory(const Machine& machine, unsigned level);

/// Fills `resolved`, whose loop and level are set.
void resolveLoop(const MappedLoop& mapped, ResolvedLoop& resolved, const Machine& machine,
                 DiagnosticEngine& diagnostics);

/// Compares the loops of a nest that are distributed to processors of one level: the outermost says which processors
/// there are, the others share them. REQUIRES: all of them are resolved.
void resolveNest(std::vector<ResolvedLoop>& loops, const Machine& machine, DiagnosticEngine& diagnostics);
/// Fills in who counts selections, and checks that they can be counted.
void findCounts(InstanceGraph& graph, DiagnosticEngine& diagnostics);

void reportHint(std::string_view what, const std::string& why, const Location& where, DiagnosticEngine& diagnostics);

} // namespace strata::sequoia
