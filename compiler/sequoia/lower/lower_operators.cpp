// Operators, conversions and functions of C: which of the shared lowering's operations each is, and what is known of
// its operands (compiler/cfamily/lower/lower_arithmetic.h says what they mean).
#include "compiler/sequoia/lower/lower_body.h"

namespace strata::sequoia {

using mlir::Value;

std::string BodyLowering::tunablesIn(const Expr* divisor) const {
  std::string text;
  auto visit = [&](auto& self, const Expr* expr) -> void {
    if (!expr)
      return;
    if (expr->kind == ExprKind::Variable && expr->variable->kind == VariableKind::Tunable) {
      const uint32_t number = expr->variable->index;
      const Instance& instance = *names_->instance;
      const std::string place = mappedAt(" at ", instance.tunablePlaces[number]);
      text += (text.empty() ? "tunable '" : ", '") + std::string(expr->variable->name) + "' is " +
              (instance.divisors[number] ? "at most " : "") + std::to_string(instance.tunables[number]) +
              (place.empty() ? " in the mapping that was made, instance '" + instance.name + "'" : place);
    }
    for (const Expr* operand : expr->operands)
      self(self, operand);
  };
  visit(visit, divisor);
  return text;
}

Value BodyLowering::mayNotOverflow(const Type* type, Value result, Value left, Value right) {
  mlir::Operation* made = result.getDefiningOp();
  if (!made || !type->isInteger() || !type->isSigned() || type->bits() < 32 ||
      !mlir::isa<mlir::arith::AddIOp, mlir::arith::SubIOp, mlir::arith::MulIOp>(made))
    return result;
  // What was folded has another operation behind it, or none. A constant stands on the right after folding.
  const Value first = made->getOperand(0), second = made->getOperand(1);
  const bool swapped = first == right && second == left && made->hasTrait<mlir::OpTrait::IsCommutative>();
  if ((first == left && second == right) || swapped)
    made->setAttr(svm::SvmDialect::signedAttr, builder_.getUnitAttr());
  return result;
}

/// `expr` has the operator; a compound assignment computes in another type than its own.
Value BodyLowering::operation(const Expr* expr, const Type* type, Value left, const Expr* leftText, Value right,
                              const Expr* rightText, bool contract) {
  if (expr->op == Operator::Divide || expr->op == Operator::ShiftRight)
    checkExact(expr);
  if (isShift(expr->op))
    return shift(expr->op == Operator::ShiftLeft, type->scalar(), left, rightText->type->scalar(),
                 {right, rangeOf(rightText)}, tunablesIn(rightText));
  if (type->isFloating() || !isDivision(expr->op))
    return mayNotOverflow(type, arithmetic(expr->op, type->scalar(), {left, {}}, {right, {}}, contract), left, right);
  // The target of a compound assignment is converted first.
  const Range leftRange = leftText->type != type ? Range::of(type->scalar()) : rangeOf(leftText);
  return arithmetic(expr->op, type->scalar(), {left, leftRange}, {right, rangeOf(rightText)}, false,
                    tunablesIn(rightText));
}

Value BodyLowering::convert(Value value, const Type* from, const Type* to) {
  if (from == to || !to->isArithmetic())
    return value;
  return converted(value, from->scalar(), to->scalar());
}

Value BodyLowering::builtin(const Expr* expr) {
  Values operands;
  for (const Expr* operand : expr->operands)
    operands.push_back(value(operand));
  at(expr->location);
  return function(expr->builtin, expr->type->scalar(), operands);
}

} // namespace strata::sequoia
