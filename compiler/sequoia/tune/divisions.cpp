// See divisions.h.
#include "compiler/sequoia/tune/divisions.h"

namespace strata::sequoia {

bool occursAsFactor(const Expr* expr, const Variable* variable) {
  if (!expr)
    return false;
  if (expr->kind == ExprKind::Variable)
    return expr->variable == variable;
  size_t count = expr->op == Operator::Divide && expr->kind == ExprKind::Binary ? 1 : expr->operands.size();
  for (size_t i = 0; i < count; ++i)
    if (occursAsFactor(expr->operands[i], variable))
      return true;
  return false;
}

bool isDivisorIn(const Stmt* stmt, const Variable* tunable) {
  if (!stmt)
    return false;
  bool found = false;
  const auto look = [&](const Expr* expr) { divisionsBy(expr, tunable, [&](const Expr*) { found = true; }); };
  look(stmt->expression);
  for (const Variable* variable : stmt->variables)
    look(variable->initializer);
  for (const Stmt* inner : {stmt->initial, stmt->body, stmt->otherwise})
    found |= isDivisorIn(inner, tunable);
  for (const Stmt* inner : stmt->statements)
    found |= isDivisorIn(inner, tunable);
  return found;
}

} // namespace strata::sequoia
