// Which variables a statement or an expression writes, or begins anew, read off its text.
#pragma once

#include "compiler/sequoia/syntax/ast.h"

#include <set>

namespace strata::sequoia {

/// Whether a statement or expression writes a variable.
bool writes(const Stmt* stmt, const Variable* variable);
bool writes(const Expr* expr, const Variable* variable);

/// All variables that a statement or expression may write.
std::set<const Variable*> written(const Stmt* stmt);
std::set<const Variable*> written(const Expr* expr);

/// Whether a statement declares a variable, or has a loop that begins with an assignment to it: for (v = …; …; …).
bool begins(const Stmt* stmt, const Variable* variable);

/// The variable that an assignable expression is a part of; null when it is none.
const Variable* targetVariable(const Expr* target);

} // namespace strata::sequoia
