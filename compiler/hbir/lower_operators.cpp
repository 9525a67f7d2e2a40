// Arithmetic on values. What the language leaves no meaning (division by zero, a shift by too much) ends the program
// with an error; conversions from float to int saturate, and NaN becomes 0.
#include "compiler/hbir/lower_body.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace arith = mlir::arith;
namespace math = mlir::math;

namespace strata::hbir {

using mlir::Value;

Value BodyLowering::compute(Operator op, ScalarType type, const Location& where, Value left, Range leftRange,
                            Value right, Range rightRange, Range result, bool contract) {
  at(where);
  if (type == ScalarType::Float) {
    auto flags = contract ? arith::FastMathFlags::contract : arith::FastMathFlags::none;
    switch (op) {
    case Operator::Add:
      return make<arith::AddFOp>(left, right, flags);
    case Operator::Subtract:
      return make<arith::SubFOp>(left, right, flags);
    case Operator::Multiply:
      return make<arith::MulFOp>(left, right, flags);
    case Operator::Remainder:
      return make<arith::RemFOp>(left, right);
    default:
      return make<arith::DivFOp>(left, right);
    }
  }
  // Where the result is known to fit, it did not wrap.
  auto flags = result.isKnown() ? arith::IntegerOverflowFlags::nsw : arith::IntegerOverflowFlags::none;
  switch (op) {
  case Operator::Add:
    return builder_.createOrFold<arith::AddIOp>(place_, left, right, flags);
  case Operator::Subtract:
    return left == right ? number(0) : builder_.createOrFold<arith::SubIOp>(place_, left, right, flags);
  case Operator::Multiply:
    return builder_.createOrFold<arith::MulIOp>(place_, left, right, flags);
  case Operator::BitAnd:
    return folded<arith::AndIOp>(left, right);
  case Operator::BitOr:
    return folded<arith::OrIOp>(left, right);
  case Operator::BitXor:
    return folded<arith::XOrIOp>(left, right);
  case Operator::ShiftLeft:
  case Operator::ShiftRight:
    return shift(op == Operator::ShiftLeft, left, right, rightRange, result.isKnown());
  default:
    return division(op == Operator::Remainder, left, leftRange, right, rightRange);
  }
}

Value BodyLowering::division(bool remainder, Value left, Range leftRange, Value right, Range rightRange) {
  if (rightRange.least == -1 && rightRange.most == -1)
    return remainder ? number(0) : folded<arith::SubIOp>(number(0), left);
  if (rightRange.least <= 0 && rightRange.most >= 0)
    check(compare(arith::CmpIPredicate::ne, right, number(0)), "division-by-zero",
          remainder ? "the divisor of a remainder is zero" : "the divisor is zero");
  if (leftRange.least == INT64_MIN && rightRange.least <= -1 && rightRange.most >= -1)
    check(folded<arith::OrIOp>(compare(arith::CmpIPredicate::ne, left, number(INT64_MIN)),
                               compare(arith::CmpIPredicate::ne, right, number(-1))),
          "division-overflow", "the smallest number divided by -1 is too large");
  // A division that has no result is not folded.
  return remainder ? make<arith::RemSIOp>(left, right).getResult() : make<arith::DivSIOp>(left, right).getResult();
}

Value BodyLowering::shift(bool isLeft, Value left, Value amount, Range amountRange, bool exact) {
  if (!amountRange.within(0, 63))
    check(compare(arith::CmpIPredicate::ult, amount, number(64)), "shift-amount",
          "a shift of a number of 64 bits by {0}", amount);
  if (!isLeft)
    return make<arith::ShRSIOp>(left, amount);
  return make<arith::ShLIOp>(left, amount,
                             exact ? arith::IntegerOverflowFlags::nsw : arith::IntegerOverflowFlags::none);
}

Value BodyLowering::floatToInt(Value value) {
  mlir::Type whole = builder_.getI32Type();
  auto constant = [&](float number) -> Value { return make<arith::ConstantOp>(builder_.getF32FloatAttr(number)); };
  auto integer = [&](int32_t number) -> Value { return make<arith::ConstantOp>(builder_.getI32IntegerAttr(number)); };
  // Powers of two are exact.
  Value over = make<arith::CmpFOp>(arith::CmpFPredicate::OGE, value, constant(0x1p31F));
  Value under = make<arith::CmpFOp>(arith::CmpFPredicate::OLT, value, constant(-0x1p31F));
  Value none = make<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
  Value outside = make<arith::OrIOp>(make<arith::OrIOp>(over, under), none);
  Value result = make<arith::FPToSIOp>(whole, make<arith::SelectOp>(outside, constant(0), value));
  result = make<arith::SelectOp>(over, integer(INT32_MAX), result);
  result = make<arith::SelectOp>(under, integer(INT32_MIN), result);
  return fromStored(result, ScalarType::Int);
}

Value BodyLowering::builtin(const Expression& expression) {
  Values operands;
  for (const ExpressionPtr& operand : expression.operands)
    operands.push_back(value(*operand));
  at(expression.where);
  Value a = operands[0], b = operands.size() > 1 ? operands[1] : a;
  const bool isInt = expression.type == ScalarType::Int;
  switch (expression.builtin) {
  case Builtin::Sqrt:
    return make<math::SqrtOp>(a);
  case Builtin::Exp:
    return make<math::ExpOp>(a);
  case Builtin::Log:
    return make<math::LogOp>(a);
  case Builtin::Sin:
    return make<math::SinOp>(a);
  case Builtin::Cos:
    return make<math::CosOp>(a);
  case Builtin::Pow:
    return make<math::PowFOp>(a, b);
  case Builtin::Floor:
    return make<math::FloorOp>(a);
  case Builtin::Fabs:
    return make<math::AbsFOp>(a);
  case Builtin::Abs:
    if (!isInt)
      return make<math::AbsFOp>(a);
    return make<arith::MaxSIOp>(a, folded<arith::SubIOp>(number(0), a));
  case Builtin::Min:
    return isInt ? folded<arith::MinSIOp>(a, b) : make<arith::MinNumFOp>(a, b).getResult();
  case Builtin::Max:
    return isInt ? folded<arith::MaxSIOp>(a, b) : make<arith::MaxNumFOp>(a, b).getResult();
  }
  return a;
}

} // namespace strata::hbir
