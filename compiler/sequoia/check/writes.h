// Which variables a statement or an expression writes, or begins anew, read off its text. Works on checked programs.
#pragma once

#include "compiler/sequoia/syntax/ast.h"

namespace strata::sequoia {

/// Whether a statement or expression writes a variable.
bool writes(const Stmt* stmt, const Variable* variable);
bool writes(const Expr* expr, const Variable* variable);

/// Whether a statement declares a variable, or has a loop that begins with an assignment to it: for (v = …; …; …).
bool begins(const Stmt* stmt, const Variable* variable);

/// The variable that an assignable expression is a part of; null when it is none.
const Variable* targetVariable(const Expr* target);

} // namespace strata::sequoia
