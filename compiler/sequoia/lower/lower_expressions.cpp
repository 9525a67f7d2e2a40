// Expressions of C as values. Operands are evaluated from left to right; what may fail or has effects is evaluated only
// where C says so.
#include "compiler/sequoia/check/writes.h"
#include "compiler/sequoia/lower/lower_body.h"

namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace strata::sequoia {

using mlir::Value;

namespace {

/// The product that an operand of a sum is, perhaps negated: what the sum is fused with. Null when it is none.
const Expr* productOf(const Expr* expr) {
  while (expr->kind == ExprKind::Unary && (expr->op == Operator::Negate || expr->op == Operator::Plus))
    expr = expr->operands[0];
  return expr->kind == ExprKind::Binary && expr->op == Operator::Multiply && expr->type->isFloating() ? expr : nullptr;
}

} // namespace

bool BodyLowering::isPlain(const Expr* expr) {
  switch (expr->kind) {
  case ExprKind::Integer:
  case ExprKind::Real:
  case ExprKind::Variable:
    return true;
  case ExprKind::Binary:
    if ((isDivision(expr->op) || isShift(expr->op)) && expr->type->isInteger() &&
        !isSafe(expr->op, expr->type->scalar(), rangeOf(expr->operands[0]), rangeOf(expr->operands[1])))
      return false;
    if (exactDivision(expr)) // checked where it is evaluated
      return false;
    break;
  case ExprKind::Unary:
  case ExprKind::Logical:
  case ExprKind::Conditional:
  case ExprKind::Cast:
  case ExprKind::BuiltinCall:
  case ExprKind::Member:
    break;
  default:
    return false;
  }
  for (const Expr* operand : expr->operands)
    if (!isPlain(operand))
      return false;
  return true;
}

Value BodyLowering::value(const Expr* expr) {
  Deeper deeper(*this);
  at(expr->location);
  switch (expr->kind) {
  case ExprKind::Integer:
    return integer(module_.typeOf(expr->type), expr->integer);
  case ExprKind::Real: {
    auto type = llvm::cast<mlir::FloatType>(module_.typeOf(expr->type));
    return make<arith::ConstantOp>(builder_.getFloatAttr(type, expr->real));
  }
  case ExprKind::Variable:
    return variableValue(expr);
  case ExprKind::Element:
    return read(target(expr));
  case ExprKind::MemberIndex:
  case ExprKind::Member: {
    // A part of something that is in memory is read there; else the whole is a value.
    const Expr* whole = expr;
    while (whole->kind == ExprKind::Member || whole->kind == ExprKind::MemberIndex)
      whole = whole->operands[0];
    const Variable* variable = targetVariable(whole);
    if (module_.isWide(whole->type) ||
        (variable && (variable->isArray() || names_->bindings.lookup(variable).storage))) {
      Target place = target(expr);
      at(expr->location);
      return read(place);
    }
    Value record = value(expr->operands[0]);
    Step step =
        expr->kind == ExprKind::Member ? Step{expr->operands[0]->type, expr->fieldIndex, {}} : memberIndex(expr);
    return fieldOf(record, step);
  }
  case ExprKind::Unary:
    return unary(expr);
  case ExprKind::Binary:
    return binary(expr);
  case ExprKind::Logical: {
    Value holds = condition(expr);
    return make<arith::ExtUIOp>(module_.typeOf(expr->type), holds);
  }
  case ExprKind::Conditional:
    return conditional(expr);
  case ExprKind::Comma:
    effect(expr->operands[0]);
    return value(expr->operands[1]);
  case ExprKind::Assign:
    return assignment(expr);
  case ExprKind::Increment:
    return increment(expr);
  case ExprKind::Cast: {
    const Expr* from = expr->operands[0];
    if (expr->type->isInteger() && from->type->isInteger() && isIndexText(expr))
      return fromIndex(index(expr), expr->type);
    Value operand = value(from);
    at(expr->location);
    return convert(operand, from->type, expr->type);
  }
  case ExprKind::Call:
    return callFunction(expr);
  case ExprKind::BuiltinCall:
    return builtin(expr);
  case ExprKind::Zero:
    return zeroOf(module_.typeOf(expr->type));
  default:
    return zeroOf(builder_.getI32Type()); // not in checked programs
  }
}

void BodyLowering::effect(const Expr* expr) {
  if (expr->kind == ExprKind::Comma) {
    effect(expr->operands[0]);
    effect(expr->operands[1]);
  } else if (expr->kind == ExprKind::Cast && expr->type->isVoid()) {
    effect(expr->operands[0]);
  } else if (expr->kind == ExprKind::Conditional && expr->type->isVoid()) {
    Value holds = condition(expr->operands[0]);
    auto branch = make<scf::IfOp>(holds, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(branch.thenBlock());
    effect(expr->operands[1]);
    builder_.setInsertionPointToStart(branch.elseBlock());
    effect(expr->operands[2]);
  } else if (module_.isWide(expr->type)) {
    object(expr);
  } else {
    value(expr);
  }
}

Value BodyLowering::variableValue(const Expr* expr) {
  const Variable* variable = expr->variable;
  if (variable->kind == VariableKind::Tunable && !names_->bindings.contains(variable))
    return integer(builder_.getI64Type(), static_cast<uint64_t>(names_->instance->tunables[variable->index]));
  const Binding& binding = bindingOf(variable);
  if (binding.value)
    return binding.value;
  if (binding.index)
    return fromIndex(binding.index, variable->type);
  return load(binding.storage);
}

Value BodyLowering::condition(const Expr* expr) {
  Deeper deeper(*this);
  at(expr->location);
  switch (expr->kind) {
  case ExprKind::Integer:
    return truth(expr->integer != 0);
  case ExprKind::Binary:
    if (isComparison(expr->op))
      return comparison(expr);
    break;
  case ExprKind::Logical:
    return logical(expr);
  case ExprKind::Unary:
    if (expr->op == Operator::Not)
      return inverse(condition(expr->operands[0]));
    break;
  case ExprKind::Cast:
    // Widening keeps a truth value.
    if (expr->type->isInteger() && expr->operands[0]->type->isInteger() &&
        expr->type->bits() >= expr->operands[0]->type->bits())
      return condition(expr->operands[0]);
    break;
  default:
    break;
  }
  Value number = value(expr);
  at(expr->location);
  return isNonZero(expr->type->scalar(), number);
}

Value BodyLowering::comparison(const Expr* expr) {
  const Expr *left = expr->operands[0], *right = expr->operands[1];
  const Scalar type = left->type->scalar();
  // Loop variables and sizes are compared as what they are, so that what follows from the comparison can be seen.
  const bool indices = left->type->isInteger() && left->type->isSigned() && isIndexText(left) && isIndexText(right);
  Value a = indices ? index(left) : value(left);
  Value b = indices ? index(right) : value(right);
  at(expr->location);
  return comparison(expr->op, type, a, b);
}

Value BodyLowering::logical(const Expr* expr) {
  bool isAnd = expr->op == Operator::LogicalAnd;
  Value first = condition(expr->operands[0]);
  if (isPlain(expr->operands[1])) {
    Value second = condition(expr->operands[1]);
    at(expr->location);
    return isAnd ? both(first, second) : either(first, second);
  }
  at(expr->location);
  return shortCircuit(isAnd, first, [&] { return condition(expr->operands[1]); });
}

Value BodyLowering::conditional(const Expr* expr) {
  Value holds = condition(expr->operands[0]);
  if (isPlain(expr->operands[1]) && isPlain(expr->operands[2])) {
    Value yes = value(expr->operands[1]), no = value(expr->operands[2]);
    at(expr->location);
    return make<arith::SelectOp>(holds, yes, no);
  }
  at(expr->location);
  return eitherOf(
      holds, module_.typeOf(expr->type), [&] { return value(expr->operands[1]); },
      [&] { return value(expr->operands[2]); });
}

Value BodyLowering::unary(const Expr* expr) {
  if (expr->op == Operator::Not) {
    Value holds = condition(expr);
    return make<arith::ExtUIOp>(module_.typeOf(expr->type), holds);
  }
  Value operand = value(expr->operands[0]);
  at(expr->location);
  if (expr->op == Operator::Complement)
    return complement(operand);
  if (expr->op != Operator::Negate)
    return operand;
  Value result = negated(expr->type->scalar(), operand);
  auto difference = result.getDefiningOp<arith::SubIOp>(); // from zero
  return difference ? mayNotOverflow(expr->type, result, difference.getLhs(), operand) : result;
}

Value BodyLowering::binary(const Expr* expr) {
  const Expr *left = expr->operands[0], *right = expr->operands[1];
  if (isComparison(expr->op)) {
    Value holds = comparison(expr);
    return make<arith::ExtUIOp>(module_.typeOf(expr->type), holds);
  }
  if (expr->type->isInteger() && expr->type->isSigned() && expr->type->bits() == 64 && isIndexText(expr))
    return fromIndex(index(expr), expr->type);
  bool contract = contracted_.contains(expr);
  if (expr->op == Operator::Add || expr->op == Operator::Subtract)
    for (const Expr* operand : {left, right})
      contract |= contractWith(operand);
  Value a = value(left), b = value(right);
  at(expr->location);
  return operation(expr, expr->type, a, left, b, right, contract);
}

bool BodyLowering::contractWith(const Expr* operand) {
  const Expr* product = productOf(operand);
  if (product)
    contracted_.insert(product);
  return product;
}

Value BodyLowering::assignment(const Expr* expr) {
  const Expr *to = expr->operands[0], *from = expr->operands[1];
  Target place = target(to);
  Value result;
  if (module_.isWide(expr->type) && from->kind == ExprKind::Zero) {
    clearObject(place);
    return {};
  }
  if (module_.isWide(expr->type)) {
    Target source = object(from);
    at(expr->location);
    copyObject(place, source);
    return {};
  }
  if (expr->op == Operator::None) {
    result = value(from);
  } else {
    bool contract = (expr->op == Operator::Add || expr->op == Operator::Subtract) && contractWith(from);
    Value operand = value(from);
    at(expr->location);
    Value old = convert(read(place), to->type, expr->computeType);
    result = operation(expr, expr->computeType, old, to, operand, from, contract);
    result = convert(result, expr->computeType, to->type);
  }
  at(expr->location);
  write(place, result);
  return result;
}

Value BodyLowering::increment(const Expr* expr) {
  const Type* type = expr->operands[0]->type;
  Target place = target(expr->operands[0]);
  at(expr->location);
  Value old = read(place);
  // Of types narrower than int the sum is an int's, and comes back modulo 2^bits.
  const Scalar scalar = type->scalar();
  Value one = type->isFloating() ? real(old.getType(), 1) : integer(old.getType(), 1);
  Value updated = mayNotOverflow(type, arithmetic(expr->op, scalar, {old, Range()}, {one, Range()}), old, one);
  write(place, updated);
  return expr->isPrefix ? updated : old;
}

} // namespace strata::sequoia
