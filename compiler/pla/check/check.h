// Checks a loop program's syntax tree and makes a system of equations of it: names, types, affine indices, conditions
// as unions of polyhedra. What needs more than one equation to be seen (that each instance is defined once, and so on)
// is compiler/equations/'s to check. Used by one thread.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/equations/system.h"
#include "compiler/pla/syntax/ast.h"

#include <optional>
#include <string>

namespace strata::pla {

/// `name` is the program's where the tree has none. Nothing on errors (reported).
std::optional<equations::System> check(const SyntaxTree& tree, const std::string& name, DiagnosticEngine& diagnostics);

/// Reads a program up to its system of equations. Nothing on errors (reported).
std::optional<equations::System> readSystem(BufferId file, const std::string& name, DiagnosticEngine& diagnostics);

} // namespace strata::pla
