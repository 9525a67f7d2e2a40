// Operators and conversions of C as operations of the dialect.
#include "compiler/cfamily/lower/lower_arithmetic.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

namespace arith = mlir::arith;

namespace strata::cfamily {

using mlir::Value;

namespace {

arith::CmpIPredicate integerPredicate(Operator op, bool isSigned) {
  switch (op) {
  case Operator::Less:
    return isSigned ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult;
  case Operator::Greater:
    return isSigned ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::ugt;
  case Operator::LessEqual:
    return isSigned ? arith::CmpIPredicate::sle : arith::CmpIPredicate::ule;
  case Operator::GreaterEqual:
    return isSigned ? arith::CmpIPredicate::sge : arith::CmpIPredicate::uge;
  case Operator::Equal:
    return arith::CmpIPredicate::eq;
  default:
    return arith::CmpIPredicate::ne;
  }
}

arith::CmpFPredicate realPredicate(Operator op) {
  switch (op) {
  case Operator::Less:
    return arith::CmpFPredicate::OLT;
  case Operator::Greater:
    return arith::CmpFPredicate::OGT;
  case Operator::LessEqual:
    return arith::CmpFPredicate::OLE;
  case Operator::GreaterEqual:
    return arith::CmpFPredicate::OGE;
  case Operator::Equal:
    return arith::CmpFPredicate::OEQ;
  default:
    return arith::CmpFPredicate::UNE;
  }
}

std::string bitsText(Scalar type) {
  return std::to_string(bitsOf(type)) + " bits";
}

int64_t leastOf(Scalar type) {
  return Range::of(type).least;
}

} // namespace

mlir::Type ArithmeticLowering::typeOf(Scalar type) {
  if (type == Scalar::Float)
    return builder_.getF32Type();
  return type == Scalar::Double ? mlir::Type(builder_.getF64Type()) : builder_.getIntegerType(bitsOf(type));
}

Value ArithmeticLowering::arithmetic(Operator op, Scalar type, const Operand& left, const Operand& right, bool contract,
                                     llvm::StringRef zeroHelp) {
  const Value a = left.value, b = right.value;
  if (isFloating(type)) {
    auto flags = contract ? arith::FastMathFlags::contract : arith::FastMathFlags::none;
    switch (op) {
    case Operator::Add:
      return make<arith::AddFOp>(a, b, flags);
    case Operator::Subtract:
      return make<arith::SubFOp>(a, b, flags);
    case Operator::Multiply:
      return make<arith::MulFOp>(a, b, flags);
    default:
      return make<arith::DivFOp>(a, b);
    }
  }
  switch (op) {
  case Operator::Add:
    return add(a, b);
  case Operator::Subtract:
    return subtract(a, b);
  case Operator::Multiply:
    return multiply(a, b);
  case Operator::BitAnd:
    return both(a, b);
  case Operator::BitOr:
    return either(a, b);
  case Operator::BitXor:
    return folded<arith::XOrIOp>(a, b);
  default:
    return division(op == Operator::Remainder, type, left, right, zeroHelp);
  }
}

/// The quotient of the smallest number and -1 is no number of the type; its remainder is none either, since C says what
/// a remainder is by the quotient.
Value ArithmeticLowering::division(bool remainder, Scalar type, const Operand& left, const Operand& right,
                                   llvm::StringRef zeroHelp) {
  const Value a = left.value, b = right.value;
  const mlir::Type of = a.getType();
  if (right.range.has(0))
    check(compare(arith::CmpIPredicate::ne, b, zero(of)), "division-by-zero",
          remainder ? "the divisor of a remainder is zero" : "the divisor is zero", {}, zeroHelp);
  // What has no result is not folded.
  if (!isSigned(type))
    return remainder ? make<arith::RemUIOp>(a, b).getResult() : make<arith::DivUIOp>(a, b).getResult();
  const int64_t least = leastOf(type);
  if (left.range.has(least) && right.range.has(-1)) {
    Value fits = compare(arith::CmpIPredicate::ne, a, integer(of, static_cast<uint64_t>(least)));
    if (!right.range.isOnly(-1))
      fits = either(fits, compare(arith::CmpIPredicate::ne, b, integer(of, ~uint64_t(0))));
    check(fits, "division-overflow",
          "the smallest number of " + bitsText(type) + " divided by -1 is no number of " + bitsText(type));
  }
  if (right.range.isOnly(-1))
    return remainder ? zero(of) : subtract(zero(of), a);
  return remainder ? make<arith::RemSIOp>(a, b).getResult() : make<arith::DivSIOp>(a, b).getResult();
}

Value ArithmeticLowering::shift(bool isLeft, Scalar type, Value left, Scalar amountType, const Operand& amount,
                                llvm::StringRef amountHelp) {
  const unsigned bits = bitsOf(type);
  const mlir::Type of = left.getType(), amountOf = amount.value.getType();
  if (!amount.range.within(0, bits - 1)) {
    Value wide = amount.value;
    if (!amountOf.isIndex() && bitsOf(amountType) < 64)
      wide = converted(wide, amountType, isSigned(amountType) ? Scalar::Long : Scalar::UnsignedLong);
    check(compare(arith::CmpIPredicate::ult, amount.value, integer(amountOf, bits)), "shift-amount",
          "a shift of a number of " + bitsText(type) + " by {0}", wide, amountHelp);
  }
  Value by = amount.value;
  if (of != amountOf)
    by = bits > bitsOf(amountType) ? make<arith::ExtUIOp>(of, by).getResult()
                                   : make<arith::TruncIOp>(of, by).getResult();
  if (isLeft)
    return make<arith::ShLIOp>(left, by);
  return isSigned(type) ? make<arith::ShRSIOp>(left, by).getResult() : make<arith::ShRUIOp>(left, by).getResult();
}

bool ArithmeticLowering::isSafe(Operator op, Scalar type, Range left, Range right) {
  if (!isInteger(type))
    return true;
  if (isShift(op))
    return right.within(0, bitsOf(type) - 1);
  return !isDivision(op) || (!right.has(0) && !(isSigned(type) && left.has(leastOf(type)) && right.has(-1)));
}

Value ArithmeticLowering::negated(Scalar type, Value operand) {
  if (isFloating(type))
    return make<arith::NegFOp>(operand);
  return subtract(zero(operand.getType()), operand);
}

Value ArithmeticLowering::complement(Value operand) {
  return folded<arith::XOrIOp>(operand, integer(operand.getType(), ~uint64_t(0)));
}

Value ArithmeticLowering::comparison(Operator op, Scalar type, Value left, Value right) {
  if (isFloating(type))
    return make<arith::CmpFOp>(realPredicate(op), left, right);
  return compare(integerPredicate(op, isSigned(type)), left, right);
}

Value ArithmeticLowering::isNonZero(Scalar type, Value value) {
  if (isFloating(type))
    return make<arith::CmpFOp>(arith::CmpFPredicate::UNE, value, zero(value.getType()));
  return compare(arith::CmpIPredicate::ne, value, zero(value.getType()));
}

Value ArithmeticLowering::converted(Value value, Scalar from, Scalar to) {
  if (from == to)
    return value;
  if (to == Scalar::Bool)
    return isNonZero(from, value);
  const mlir::Type target = typeOf(to);
  if (isInteger(from) && isInteger(to)) {
    if (bitsOf(from) == bitsOf(to))
      return value;
    if (bitsOf(from) > bitsOf(to))
      return make<arith::TruncIOp>(target, value);
    return isSigned(from) ? make<arith::ExtSIOp>(target, value).getResult()
                          : make<arith::ExtUIOp>(target, value).getResult();
  }
  if (isInteger(from))
    return isSigned(from) ? make<arith::SIToFPOp>(target, value).getResult()
                          : make<arith::UIToFPOp>(target, value).getResult();
  if (isInteger(to))
    return nearestInteger(value, to);
  if (bitsOf(from) == bitsOf(to))
    return value;
  return bitsOf(from) < bitsOf(to) ? make<arith::ExtFOp>(target, value).getResult()
                                   : make<arith::TruncFOp>(target, value).getResult();
}

/// The operations of the dialect have no value beyond the limits: the real is replaced by 0 there, and the integer by
/// the limit.
Value ArithmeticLowering::nearestInteger(Value value, Scalar to) {
  const mlir::Type of = value.getType(), whole = typeOf(to);
  const bool hasSign = isSigned(to);
  const int digits = static_cast<int>(bitsOf(to)) - hasSign;
  // Powers of two, and 0: exact in float and double.
  Value over = make<arith::CmpFOp>(arith::CmpFPredicate::OGE, value, real(of, std::ldexp(1.0, digits)));
  Value under = make<arith::CmpFOp>(arith::CmpFPredicate::OLT, value, real(of, hasSign ? -std::ldexp(1.0, digits) : 0));
  Value isNaN = make<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
  Value outside = make<arith::OrIOp>(make<arith::OrIOp>(over, under), isNaN);
  Value inside = make<arith::SelectOp>(outside, real(of, 0), value);
  Value result =
      hasSign ? make<arith::FPToSIOp>(whole, inside).getResult() : make<arith::FPToUIOp>(whole, inside).getResult();
  const uint64_t largest = ~uint64_t(0) >> (64 - digits);
  result = make<arith::SelectOp>(over, integer(whole, largest), result);
  return make<arith::SelectOp>(under, integer(whole, hasSign ? ~largest : 0), result);
}

} // namespace strata::cfamily
