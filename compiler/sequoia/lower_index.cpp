// Integer expressions as indices. What C leaves undefined on overflow may be calculated in the wider type, so that a
// subscript is a sum of loop variables and sizes; unsigned arithmetic keeps its own width, and wraps.
#include "compiler/sequoia/lower_body.h"

namespace arith = mlir::arith;

namespace strata::sequoia {

using mlir::Value;

const Expr* BodyLowering::withoutWidening(const Expr* expr) {
  while (expr->kind == ExprKind::Cast && expr->type->isInteger()) {
    const Expr* inner = expr->operands[0];
    if (!inner->type->isInteger())
      break;
    const Type *from = inner->type, *to = expr->type;
    bool keeps = from->isSigned() == to->isSigned() ? to->bits() >= from->bits()
                 : to->isSigned()                   ? to->bits() > from->bits()
                                                    : to->bits() >= from->bits() && isNonNegative(inner);
    if (!keeps)
      break;
    expr = inner;
  }
  return expr;
}

bool BodyLowering::isNonNegative(const Expr* expr) {
  if (expr->kind == ExprKind::Integer)
    return expr->signedValue() >= 0 || !expr->type->isSigned();
  if (!expr->type->isInteger())
    return false;
  if (!expr->type->isSigned())
    return true;
  switch (expr->kind) {
  case ExprKind::Variable: {
    if (expr->variable->kind == VariableKind::SizeParameter)
      return true;
    if (expr->variable->kind == VariableKind::Tunable)
      return names_->instance->tunables[expr->variable->index] >= 0;
    auto found = names_->bindings.find(expr->variable);
    return found != names_->bindings.end() && found->second.nonNegative;
  }
  case ExprKind::Cast: {
    const Expr* inner = expr->operands[0];
    return inner->type->isInteger() && expr->type->bits() >= inner->type->bits() &&
           (inner->type->isSigned() || expr->type->bits() > inner->type->bits()) && isNonNegative(inner);
  }
  case ExprKind::Binary:
    switch (expr->op) {
    case Operator::Add:
    case Operator::Multiply:
    case Operator::Divide:
      return isNonNegative(expr->operands[0]) && isNonNegative(expr->operands[1]);
    case Operator::Remainder:
    case Operator::ShiftRight:
      return isNonNegative(expr->operands[0]);
    case Operator::BitAnd:
      return isNonNegative(expr->operands[0]) || isNonNegative(expr->operands[1]);
    default:
      return false;
    }
  case ExprKind::Conditional:
    return isNonNegative(expr->operands[1]) && isNonNegative(expr->operands[2]);
  case ExprKind::BuiltinCall:
    return (expr->builtin == Builtin::Min || expr->builtin == Builtin::Max) && isNonNegative(expr->operands[0]) &&
           isNonNegative(expr->operands[1]);
  default:
    return false;
  }
}

bool BodyLowering::isIndexText(const Expr* expr) {
  expr = withoutWidening(expr);
  switch (expr->kind) {
  case ExprKind::Integer:
    return expr->type->isSigned() || expr->signedValue() >= 0;
  case ExprKind::Variable: {
    if (expr->variable->kind == VariableKind::Tunable)
      return true;
    auto found = names_->bindings.find(expr->variable);
    return found != names_->bindings.end() && found->second.index;
  }
  case ExprKind::Binary:
    return (expr->op == Operator::Add || expr->op == Operator::Subtract || expr->op == Operator::Multiply) &&
           expr->type->isInteger() && expr->type->isSigned() && isIndexText(expr->operands[0]) &&
           isIndexText(expr->operands[1]);
  default:
    return false;
  }
}

Value BodyLowering::index(const Expr* expr) {
  Deeper deeper(*this);
  expr = withoutWidening(expr);
  at(expr->location);
  switch (expr->kind) {
  case ExprKind::Integer:
    return indexConstant(expr->signedValue());
  case ExprKind::Variable: {
    if (expr->variable->kind == VariableKind::Tunable)
      return indexConstant(names_->instance->tunables[expr->variable->index]);
    auto found = names_->bindings.find(expr->variable);
    if (found != names_->bindings.end() && found->second.index)
      return found->second.index;
    break;
  }
  case ExprKind::Binary: {
    if (!expr->type->isSigned())
      break;
    const Expr* right = expr->operands[1];
    bool isQuotient = expr->op == Operator::Divide || expr->op == Operator::Remainder;
    if (!isQuotient && expr->op != Operator::Add && expr->op != Operator::Subtract && expr->op != Operator::Multiply)
      break;
    // Quotients by what may be negative could overflow; they are calculated as they stand.
    if (isQuotient && !isNonNegative(right))
      break;
    Value a = index(expr->operands[0]), b = index(right);
    at(expr->location);
    if (expr->op == Operator::Add)
      return add(a, b);
    if (expr->op == Operator::Subtract)
      return subtract(a, b);
    if (expr->op == Operator::Multiply)
      return multiply(a, b);
    check(compare(arith::CmpIPredicate::ne, b, indexConstant(0)), "division-by-zero", "the divisor is zero", {},
          tunablesIn(right));
    return expr->op == Operator::Divide ? folded<arith::DivSIOp>(a, b) : folded<arith::RemSIOp>(a, b);
  }
  case ExprKind::BuiltinCall:
    if ((expr->builtin == Builtin::Min || expr->builtin == Builtin::Max) && expr->type->isInteger() &&
        expr->type->isSigned()) {
      Value a = index(expr->operands[0]), b = index(expr->operands[1]);
      at(expr->location);
      return expr->builtin == Builtin::Min ? minimum(a, b) : maximum(a, b);
    }
    break;
  default:
    break;
  }
  Value number = value(expr);
  at(expr->location);
  return toIndex(number, expr->type);
}

} // namespace strata::sequoia
