// C's arithmetic on values. Signed overflow is undefined in C and marked so; division by zero, a quotient that
// overflows and a shift by too much end the program with an error; conversions from floating point to integers
// saturate, and NaN becomes 0.
#include "compiler/sequoia/lower_body.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

namespace arith = mlir::arith;
namespace math = mlir::math;

namespace strata::sequoia {

using mlir::Value;

Value BodyLowering::arithmetic(Operator op, const Type* type, const Expr* leftText, const Expr* rightText, Value left,
                               Value right, bool contract) {
  if (type->isFloating()) {
    auto flags = contract ? arith::FastMathFlags::contract : arith::FastMathFlags::none;
    switch (op) {
    case Operator::Add:
      return make<arith::AddFOp>(left, right, flags);
    case Operator::Subtract:
      return make<arith::SubFOp>(left, right, flags);
    case Operator::Multiply:
      return make<arith::MulFOp>(left, right, flags);
    default:
      return make<arith::DivFOp>(left, right);
    }
  }
  auto flags = type->isSigned() ? arith::IntegerOverflowFlags::nsw : arith::IntegerOverflowFlags::none;
  switch (op) {
  case Operator::Add:
    return make<arith::AddIOp>(left, right, flags);
  case Operator::Subtract:
    return make<arith::SubIOp>(left, right, flags);
  case Operator::Multiply:
    return make<arith::MulIOp>(left, right, flags);
  case Operator::BitAnd:
    return make<arith::AndIOp>(left, right);
  case Operator::BitOr:
    return make<arith::OrIOp>(left, right);
  case Operator::BitXor:
    return make<arith::XOrIOp>(left, right);
  default:
    return division(op == Operator::Remainder, type, rightText, left, right);
  }
}

std::string BodyLowering::tunablesIn(const Expr* divisor) const {
  std::string text;
  auto visit = [&](auto& self, const Expr* expr) -> void {
    if (!expr)
      return;
    if (expr->kind == ExprKind::Variable && expr->variable->kind == VariableKind::Tunable) {
      const uint32_t number = expr->variable->index;
      const Instance& instance = *names_->instance;
      text += (text.empty() ? "tunable '" : ", '") + std::string(expr->variable->name) + "' is " +
              std::to_string(instance.tunables[number]) + mappedAt(" at ", instance.tunablePlaces[number]);
    }
    for (const Expr* operand : expr->operands)
      self(self, operand);
  };
  visit(visit, divisor);
  return text;
}

Value BodyLowering::division(bool remainder, const Type* type, const Expr* divisorText, Value left, Value right) {
  const bool isConstant = divisorText->kind == ExprKind::Integer;
  if (isConstant && type->isSigned() && divisorText->signedValue() == -1)
    return remainder ? zeroOf(left.getType()) : make<arith::SubIOp>(zeroOf(left.getType()), left).getResult();
  if (!isConstant || divisorText->integer == 0)
    check(compare(arith::CmpIPredicate::ne, right, zeroOf(right.getType())), "division-by-zero",
          remainder ? "the divisor of a remainder is zero" : "the divisor is zero", {}, tunablesIn(divisorText));
  if (!type->isSigned())
    return remainder ? make<arith::RemUIOp>(left, right).getResult() : make<arith::DivUIOp>(left, right).getResult();
  if (!isConstant && !isNonNegative(divisorText)) {
    Value least = integer(left.getType(), uint64_t(1) << (type->bits() - 1));
    Value minusOne = integer(left.getType(), ~uint64_t(0));
    Value fits = folded<arith::OrIOp>(compare(arith::CmpIPredicate::ne, left, least),
                                      compare(arith::CmpIPredicate::ne, right, minusOne));
    check(fits, "division-overflow", "the smallest " + typeName(type) + " divided by -1 is no " + typeName(type));
  }
  return remainder ? make<arith::RemSIOp>(left, right).getResult() : make<arith::DivSIOp>(left, right).getResult();
}

Value BodyLowering::shift(bool isLeft, const Type* type, const Expr* amountText, Value left, Value amount) {
  const bool isConstant = amountText->kind == ExprKind::Integer;
  if (!isConstant || amountText->integer >= type->bits()) {
    Value limit = integer(amount.getType(), type->bits());
    Value wide = amount.getType().getIntOrFloatBitWidth() == 64
                     ? amount
                     : (amountText->type->isSigned() ? make<arith::ExtSIOp>(builder_.getI64Type(), amount).getResult()
                                                     : make<arith::ExtUIOp>(builder_.getI64Type(), amount).getResult());
    check(compare(arith::CmpIPredicate::ult, amount, limit), "shift-amount",
          "a shift of a value of " + std::to_string(type->bits()) + " bits by {0}", wide);
  }
  Value bits = amount;
  unsigned wanted = left.getType().getIntOrFloatBitWidth(), given = amount.getType().getIntOrFloatBitWidth();
  if (wanted > given)
    bits = make<arith::ExtUIOp>(left.getType(), amount);
  else if (wanted < given)
    bits = make<arith::TruncIOp>(left.getType(), amount);
  if (isLeft)
    return make<arith::ShLIOp>(left, bits);
  return type->isSigned() ? make<arith::ShRSIOp>(left, bits).getResult() : make<arith::ShRUIOp>(left, bits).getResult();
}

Value BodyLowering::convert(Value value, const Type* from, const Type* to) {
  if (from == to || !to->isArithmetic())
    return value;
  mlir::Type target = module_.typeOf(to);
  if (from->isInteger() && to->isInteger()) {
    if (from->bits() == to->bits())
      return value;
    if (from->bits() > to->bits())
      return make<arith::TruncIOp>(target, value);
    return from->isSigned() ? make<arith::ExtSIOp>(target, value).getResult()
                            : make<arith::ExtUIOp>(target, value).getResult();
  }
  if (from->isInteger())
    return from->isSigned() ? make<arith::SIToFPOp>(target, value).getResult()
                            : make<arith::UIToFPOp>(target, value).getResult();
  if (to->isInteger())
    return floatToInteger(value, to);
  if (from->bits() == to->bits())
    return value;
  return from->bits() < to->bits() ? make<arith::ExtFOp>(target, value).getResult()
                                   : make<arith::TruncFOp>(target, value).getResult();
}

Value BodyLowering::floatToInteger(Value value, const Type* to) {
  mlir::Type real = value.getType(), whole = module_.typeOf(to);
  const unsigned bits = to->bits();
  auto constant = [&](double number) -> Value { return make<arith::ConstantOp>(builder_.getFloatAttr(real, number)); };
  const bool isSigned = to->isSigned();
  // Both are powers of two, or 0, and so exact in float and double.
  Value above = constant(std::ldexp(1.0, static_cast<int>(isSigned ? bits - 1 : bits)));
  Value least = constant(isSigned ? -std::ldexp(1.0, static_cast<int>(bits - 1)) : 0.0);
  Value over = make<arith::CmpFOp>(arith::CmpFPredicate::OGE, value, above);
  Value under = make<arith::CmpFOp>(arith::CmpFPredicate::OLT, value, least);
  Value outside =
      make<arith::OrIOp>(make<arith::OrIOp>(over, under), make<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value));
  Value inside = make<arith::SelectOp>(outside, constant(0.0), value);
  Value result =
      isSigned ? make<arith::FPToSIOp>(whole, inside).getResult() : make<arith::FPToUIOp>(whole, inside).getResult();
  uint64_t largest = isSigned ? (uint64_t(1) << (bits - 1)) - 1 : ~uint64_t(0);
  result = make<arith::SelectOp>(over, integer(whole, largest), result);
  return make<arith::SelectOp>(under, integer(whole, isSigned ? uint64_t(1) << (bits - 1) : 0), result);
}

/// sqrt(a*a + b*b) without overflow on the way: a float's in double, a double's scaled by the larger of the two.
Value BodyLowering::hypotenuse(Value a, Value b) {
  if (a.getType().isF32()) {
    mlir::Type wide = builder_.getF64Type();
    a = make<arith::ExtFOp>(wide, a);
    b = make<arith::ExtFOp>(wide, b);
    Value sum = make<arith::AddFOp>(make<arith::MulFOp>(a, a), make<arith::MulFOp>(b, b));
    return make<arith::TruncFOp>(builder_.getF32Type(), make<math::SqrtOp>(sum));
  }
  a = make<math::AbsFOp>(a);
  b = make<math::AbsFOp>(b);
  Value larger = make<arith::MaximumFOp>(a, b), smaller = make<arith::MinimumFOp>(a, b);
  Value one = make<arith::ConstantOp>(builder_.getF64FloatAttr(1.0)), zero = zeroOf(a.getType());
  Value infinity = make<arith::ConstantOp>(builder_.getF64FloatAttr(INFINITY));
  Value isZero = make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, larger, zero);
  Value ratio = make<arith::DivFOp>(smaller, make<arith::SelectOp>(isZero, one, larger));
  Value root = make<math::SqrtOp>(make<arith::AddFOp>(make<arith::MulFOp>(ratio, ratio), one));
  Value length = make<arith::SelectOp>(isZero, zero, make<arith::MulFOp>(larger, root));
  Value isInfinite = make<arith::OrIOp>(make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, infinity),
                                        make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, b, infinity));
  return make<arith::SelectOp>(isInfinite, infinity, length);
}

Value BodyLowering::builtin(const Expr* expr) {
  Values operands;
  for (const Expr* operand : expr->operands)
    operands.push_back(value(operand));
  at(expr->location);
  Value a = operands[0], b = operands.size() > 1 ? operands[1] : Value();
  const bool isFloat = expr->type->isFloating(), isSigned = !isFloat && expr->type->isSigned();
  switch (expr->builtin) {
  case Builtin::Sqrt:
    return make<math::SqrtOp>(a);
  case Builtin::Rsqrt: {
    Value one = make<arith::ConstantOp>(builder_.getFloatAttr(a.getType(), 1.0));
    return make<arith::DivFOp>(one, make<math::SqrtOp>(a));
  }
  case Builtin::Cbrt:
    return make<math::CbrtOp>(a);
  case Builtin::Exp:
    return make<math::ExpOp>(a);
  case Builtin::Exp2:
    return make<math::Exp2Op>(a);
  case Builtin::Log:
    return make<math::LogOp>(a);
  case Builtin::Log2:
    return make<math::Log2Op>(a);
  case Builtin::Log10:
    return make<math::Log10Op>(a);
  case Builtin::Sin:
    return make<math::SinOp>(a);
  case Builtin::Cos:
    return make<math::CosOp>(a);
  case Builtin::Tan:
    return make<math::TanOp>(a);
  case Builtin::Asin:
    return make<math::AsinOp>(a);
  case Builtin::Acos:
    return make<math::AcosOp>(a);
  case Builtin::Atan:
    return make<math::AtanOp>(a);
  case Builtin::Sinh:
    return make<math::SinhOp>(a);
  case Builtin::Cosh:
    return make<math::CoshOp>(a);
  case Builtin::Tanh:
    return make<math::TanhOp>(a);
  case Builtin::Atan2:
    return make<math::Atan2Op>(a, b);
  case Builtin::Pow:
    return make<math::PowFOp>(a, b);
  case Builtin::Fmod:
    return make<arith::RemFOp>(a, b);
  case Builtin::Hypot:
    return hypotenuse(a, b);
  case Builtin::Fabs:
    return make<math::AbsFOp>(a);
  case Builtin::Floor:
    return make<math::FloorOp>(a);
  case Builtin::Ceil:
    return make<math::CeilOp>(a);
  case Builtin::Trunc:
    return make<math::TruncOp>(a);
  case Builtin::Round:
    return make<math::RoundOp>(a);
  case Builtin::Fma:
    return make<math::FmaOp>(a, b, operands[2]);
  case Builtin::Abs:
    if (isFloat)
      return make<math::AbsFOp>(a);
    return isSigned ? make<math::AbsIOp>(a).getResult() : a;
  case Builtin::Fmin:
  case Builtin::Min:
    if (isFloat)
      return make<arith::MinNumFOp>(a, b);
    return isSigned ? make<arith::MinSIOp>(a, b).getResult() : make<arith::MinUIOp>(a, b).getResult();
  case Builtin::Fmax:
  case Builtin::Max:
    if (isFloat)
      return make<arith::MaxNumFOp>(a, b);
    return isSigned ? make<arith::MaxSIOp>(a, b).getResult() : make<arith::MaxUIOp>(a, b).getResult();
  }
  return a;
}

} // namespace strata::sequoia
