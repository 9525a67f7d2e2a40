// Prints a checked program: one node a line, indented, with types, implicit conversions and resolved names in full. For
// people and for tests; nothing reads it back.
#pragma once

#include "compiler/sequoia/syntax/ast.h"

#include <string>

namespace strata::sequoia {

std::string printAst(const Program& program);
/// An expression on one line, conversions shown.
std::string printExpr(const Expr* expr);

} // namespace strata::sequoia
