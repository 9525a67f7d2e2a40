// A graph as text, for people and tests: one equation a line, in the names of the program.
#pragma once

#include "compiler/equations/graph.h"

#include <string>

namespace strata::equations {

/// "s[i, j, k] = add(s[i, j, k-1], t[i, j, k]) if …", after the declarations.
std::string print(const Graph& graph);

/// As it is spelt there: "add".
const char* operationText(Operation operation);

} // namespace strata::equations
