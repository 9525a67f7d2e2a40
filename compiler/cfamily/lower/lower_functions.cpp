// Built-in functions as operations of the dialect.
#include "compiler/cfamily/lower/lower_arithmetic.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

namespace arith = mlir::arith;
namespace math = mlir::math;

namespace strata::cfamily {

using mlir::Value;

/// sqrt(a*a + b*b) without overflow on the way: a float's in double, a double's scaled by the larger of the two.
Value ArithmeticLowering::hypotenuse(Value a, Value b) {
  if (a.getType().isF32()) {
    mlir::Type wide = builder_.getF64Type();
    a = make<arith::ExtFOp>(wide, a);
    b = make<arith::ExtFOp>(wide, b);
    Value sum = make<arith::AddFOp>(make<arith::MulFOp>(a, a), make<arith::MulFOp>(b, b));
    return make<arith::TruncFOp>(builder_.getF32Type(), make<math::SqrtOp>(sum));
  }
  const mlir::Type of = a.getType();
  a = make<math::AbsFOp>(a);
  b = make<math::AbsFOp>(b);
  Value larger = make<arith::MaximumFOp>(a, b), smaller = make<arith::MinimumFOp>(a, b);
  Value one = real(of, 1), none = real(of, 0), infinity = real(of, INFINITY);
  Value isZero = make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, larger, none);
  Value ratio = make<arith::DivFOp>(smaller, make<arith::SelectOp>(isZero, one, larger));
  Value root = make<math::SqrtOp>(make<arith::AddFOp>(make<arith::MulFOp>(ratio, ratio), one));
  Value length = make<arith::SelectOp>(isZero, none, make<arith::MulFOp>(larger, root));
  Value isInfinite = make<arith::OrIOp>(make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, infinity),
                                        make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, b, infinity));
  return make<arith::SelectOp>(isInfinite, infinity, length);
}

Value ArithmeticLowering::function(Builtin builtin, Scalar type, mlir::ValueRange operands) {
  Value a = operands[0], b = operands.size() > 1 ? operands[1] : Value();
  const bool isReal = isFloating(type), hasSign = isSigned(type);
  switch (builtin) {
  case Builtin::Sqrt:
    return make<math::SqrtOp>(a);
  case Builtin::Rsqrt:
    return make<arith::DivFOp>(real(a.getType(), 1), make<math::SqrtOp>(a));
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
    if (isReal)
      return make<math::AbsFOp>(a);
    return hasSign ? maximum(a, negated(type, a)) : a;
  case Builtin::Fmin:
  case Builtin::Min:
    if (isReal)
      return make<arith::MinNumFOp>(a, b);
    return hasSign ? minimum(a, b) : folded<arith::MinUIOp>(a, b);
  case Builtin::Fmax:
  case Builtin::Max:
    if (isReal)
      return make<arith::MaxNumFOp>(a, b);
    return hasSign ? maximum(a, b) : folded<arith::MaxUIOp>(a, b);
  }
  return a;
}

} // namespace strata::cfamily
