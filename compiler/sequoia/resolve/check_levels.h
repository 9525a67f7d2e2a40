// Rules on where the instances of a resolved mapping stand: control beside the data it touches, calls that go
// downwards, leaves where processors compute, and recursion that ends.
#pragma once

#include "compiler/sequoia/resolve/resolve.h"

#include <set>

namespace strata::sequoia {

void checkLevels(const InstanceGraph& graph, const Machine& machine, DiagnosticEngine& diagnostics);

/// The scalars of a variant that control at any level knows: sizes, tunables, loop variables, and locals that are
/// computed once from nothing else.
std::set<const Variable*> knownEverywhere(const TaskVariant& variant);
/// Whether an expression or block reads no element and no scalar other than these.
bool readsOnly(const Expr* expr, const std::set<const Variable*>& known);

} // namespace strata::sequoia
