// Reductions become variables that run along their iterators: the first step of every way that a loop program goes.
// What stays are equations of operations on elements, each with the iterations that it holds in.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/equations/system.h"

#include <optional>

namespace strata::equations {

/// `s = sum[k](t)` becomes s[I] = t[I] where k has its first value, s[I] = s[I - e] + t[I] further on, and the equation
/// that holds it stands where k has its last. Nothing on errors (reported).
std::optional<System> withoutReductions(const System& system, DiagnosticEngine& diagnostics);

} // namespace strata::equations
