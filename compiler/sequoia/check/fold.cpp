// Replaces operators on literals by what they give.
#include "compiler/sequoia/check/fold.h"

#include "compiler/cfamily/check/constant.h"

#include <cmath>

namespace strata::sequoia {

using cfamily::Number;

namespace {

Number numberOf(const Expr& literal) {
  Number number;
  number.type = literal.type->scalar();
  number.integer = literal.integer;
  number.real = literal.real;
  return number;
}

/// An infinity has no literal.
void become(Expr& expr, const Number& number) {
  const bool isReal = cfamily::isFloating(number.type);
  if (isReal && !std::isfinite(number.real))
    return;
  expr.kind = isReal ? ExprKind::Real : ExprKind::Integer;
  expr.integer = number.integer;
  expr.real = number.real;
  expr.operands.clear();
}

} // namespace

void fold(Expr& expr) {
  if (expr.kind == ExprKind::Conditional) {
    if (!expr.operands[0]->isConstant())
      return;
    const Expr* chosen = expr.operands[numberOf(*expr.operands[0]).isTrue() ? 1 : 2];
    if (chosen->isConstant())
      become(expr, numberOf(*chosen));
    return;
  }
  for (const Expr* operand : expr.operands)
    if (!operand->isConstant())
      return;
  switch (expr.kind) {
  case ExprKind::Unary:
    return become(expr, cfamily::evaluated(expr.op, numberOf(*expr.operands[0])));
  case ExprKind::Binary:
  case ExprKind::Logical:
    if (auto value = cfamily::evaluated(expr.op, numberOf(*expr.operands[0]), numberOf(*expr.operands[1])).value)
      become(expr, *value);
    return;
  case ExprKind::Cast:
    if (expr.type->isArithmetic())
      become(expr, cfamily::converted(numberOf(*expr.operands[0]), expr.type->scalar()));
    return;
  default:
    return;
  }
}

std::optional<int64_t> constantOf(const Expr* expr) {
  if (!expr || expr->kind != ExprKind::Integer)
    return std::nullopt;
  return expr->signedValue();
}

} // namespace strata::sequoia
