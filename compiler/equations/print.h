// Equations as text, for people and tests: one a line, in the names of the program.
#pragma once

#include "compiler/equations/system.h"

#include <string>

namespace strata::equations {

/// "s[i, j, k] = add(s[i, j, k - 1], t[i, j, k]) if …", after the declarations. REQUIRES: no reductions.
std::string print(const System& system);
std::string print(const Graph& graph);

/// The right side alone.
std::string text(const System& system, const Expression& expression);

/// As it is spelt there: "add".
const char* operationText(Operation operation);

} // namespace strata::equations
