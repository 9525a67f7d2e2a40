// How a tunable occurs in what a program computes from it: as a factor, or as what something is divided by. Pure
// functions.
#pragma once

#include "compiler/sequoia/syntax/ast.h"

namespace strata::sequoia {

/// Whether a variable occurs other than in a divisor. No expression: no.
bool occursAsFactor(const Expr* expr, const Variable* variable);

/// Calls `visit(numerator)` for each division by the variable.
template <typename Visit>
void divisionsBy(const Expr* expr, const Variable* variable, Visit visit) {
  if (!expr)
    return;
  const Expr* divisor = expr->kind == ExprKind::Binary && expr->op == Operator::Divide ? expr->operands[1] : nullptr;
  while (divisor && divisor->kind == ExprKind::Cast)
    divisor = divisor->operands[0];
  if (divisor && divisor->kind == ExprKind::Variable && divisor->variable == variable)
    visit(expr->operands[0]);
  for (const Expr* operand : expr->operands)
    divisionsBy(operand, variable, visit);
}

/// Whether some variable is declared with a division by the tunable, or some expression divides by it.
bool isDivisorIn(const Stmt* stmt, const Variable* tunable);

} // namespace strata::sequoia
