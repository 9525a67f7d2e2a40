// Integer expressions as indices. What C leaves undefined on overflow may be calculated in the wider type, so that a
// subscript is a sum of loop variables and sizes; unsigned arithmetic keeps its own width, and wraps.
#include "compiler/sequoia/lower/lower_body.h"

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

/// The range of a conversion of an integer: that of the operand where the type holds it.
static cfamily::Range rangeOfCast(cfamily::Range inner, cfamily::Scalar to) {
  const cfamily::Range all = cfamily::Range::of(to);
  const bool keeps =
      inner.isKnown() && inner.within(all.least, all.most) && (cfamily::isSigned(to) || inner.least >= 0);
  return keeps ? inner : all;
}

BodyLowering::Range BodyLowering::rangeOf(const Expr* expr) {
  if (!expr->type->isInteger())
    return {};
  const Scalar type = expr->type->scalar();
  const Range all = Range::of(type);
  switch (expr->kind) {
  case ExprKind::Integer:
    return expr->type->isSigned() || expr->signedValue() >= 0 ? Range::only(expr->signedValue()) : all;
  case ExprKind::Variable: {
    if (expr->variable->kind == VariableKind::SizeParameter)
      return {0, (int64_t(1) << 62) - 1}; // as many elements as an array may have
    if (expr->variable->kind == VariableKind::Tunable) {
      const int64_t value = names_->instance->tunables[expr->variable->index]; // at most, where it is settled later
      return names_->bindings.contains(expr->variable) ? Range{0, value} : Range::only(value);
    }
    auto found = names_->bindings.find(expr->variable);
    return found != names_->bindings.end() && found->second.range.isKnown() ? found->second.range : all;
  }
  case ExprKind::Cast:
    return expr->operands[0]->type->isInteger() ? rangeOfCast(rangeOf(expr->operands[0]), type) : all;
  case ExprKind::Binary: {
    const Range left = rangeOf(expr->operands[0]), right = rangeOf(expr->operands[1]);
    if (isShift(expr->op) && !right.within(0, expr->type->bits() - 1))
      return all;
    // An unsigned number of 64 bits may be more than any that a range tells.
    if (!expr->operands[0]->type->isSigned() && (left.least < 0 || right.least < 0))
      return isComparison(expr->op) ? Range{0, 1} : all;
    const Range exact = cfamily::evaluated(expr->op, left, right);
    // As an index a sum does not wrap.
    return rangeOfCast(exact, type).united(exact.isKnown() && expr->type->isSigned() ? exact : all);
  }
  case ExprKind::Conditional:
    return rangeOf(expr->operands[1]).united(rangeOf(expr->operands[2]));
  case ExprKind::Logical:
    return {0, 1};
  case ExprKind::Comma:
    return rangeOf(expr->operands[1]);
  default:
    return all;
  }
}

BodyLowering::Range BodyLowering::indexRangeOf(const Expr* expr) {
  expr = withoutWidening(expr);
  const bool isLeast =
      expr->kind == ExprKind::BuiltinCall && (expr->builtin == Builtin::Min || expr->builtin == Builtin::Max);
  if (isLeast && expr->type->isInteger() && expr->type->isSigned())
    return indexRangeOf(expr->operands[0]).united(indexRangeOf(expr->operands[1]));
  const bool isSum = expr->op == Operator::Add || expr->op == Operator::Subtract || expr->op == Operator::Multiply;
  const bool isQuotient = expr->kind == ExprKind::Binary && isDivision(expr->op) && isNonNegative(expr->operands[1]);
  if (expr->kind != ExprKind::Binary || !expr->type->isInteger() || !expr->type->isSigned() || !(isSum || isQuotient))
    return rangeOf(expr);
  return cfamily::evaluated(expr->op, indexRangeOf(expr->operands[0]), indexRangeOf(expr->operands[1]));
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
    if (expr->variable->kind == VariableKind::Tunable && !names_->bindings.contains(expr->variable))
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
    if (isQuotient)
      checkExact(expr);
    at(expr->location);
    if (expr->op == Operator::Add)
      return add(a, b);
    if (expr->op == Operator::Subtract)
      return subtract(a, b);
    if (expr->op == Operator::Multiply)
      return multiply(a, b);
    return arithmetic(expr->op, Scalar::Long, {a, indexRangeOf(expr->operands[0])}, {b, indexRangeOf(right)}, false,
                      tunablesIn(right));
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
