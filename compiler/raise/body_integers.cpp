// LLVM's intrinsics on integers, as sums, shifts and comparisons: the dialect, and with it every target and the lanes
// of a register, then has a form for each. LLVM finds the instruction again where the processor has one.
#include "compiler/raise/body.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace strata::raise {

namespace arith = mlir::arith;
namespace math = mlir::math;

using mlir::Value;

static unsigned bitsOf(Value value) {
  return value.getType().getIntOrFloatBitWidth();
}

Value Body::integer(mlir::Type type, const llvm::APInt& value) {
  return make<arith::ConstantOp>(builder_.getIntegerAttr(type, value));
}

Value Body::integer(mlir::Type type, uint64_t value) {
  return integer(type, llvm::APInt(type.getIntOrFloatBitWidth(), value));
}

Value Body::compare(arith::CmpIPredicate predicate, Value left, Value right) {
  return make<arith::CmpIOp>(predicate, left, right);
}

// ---- sums that do not fit ----

/// Whether a sum or difference of integers with a sign has left their type: its sign is then one that neither the
/// operands nor the operation explain.
Value Body::leavesType(bool isSum, Value left, Value right, Value result) {
  Value first = make<arith::XOrIOp>(left, result);
  Value second = isSum ? make<arith::XOrIOp>(right, result) : make<arith::XOrIOp>(left, right);
  return compare(arith::CmpIPredicate::slt, make<arith::AndIOp>(first, second), zero(result.getType()));
}

std::pair<Value, Value> Body::withOverflow(llvm::WithOverflowInst& call) {
  Value left = valueOf(call.getLHS()), right = valueOf(call.getRHS());
  const mlir::Type type = left.getType();
  const bool hasSign = call.isSigned();
  switch (call.getBinaryOp()) {
  case llvm::Instruction::Add: {
    Value sum = make<arith::AddIOp>(left, right);
    return {sum, hasSign ? leavesType(true, left, right, sum) : compare(arith::CmpIPredicate::ult, sum, left)};
  }
  case llvm::Instruction::Sub: {
    Value difference = make<arith::SubIOp>(left, right);
    return {difference,
            hasSign ? leavesType(false, left, right, difference) : compare(arith::CmpIPredicate::ult, left, right)};
  }
  default:
    break;
  }
  const unsigned bits = bitsOf(left);
  if (bits <= 32) { // where the product in twice the bits has a form for lanes
    const mlir::Type wide = builder_.getIntegerType(2 * bits);
    const auto widened = [&](Value value) {
      return hasSign ? make<arith::ExtSIOp>(wide, value).getResult() : make<arith::ExtUIOp>(wide, value).getResult();
    };
    Value whole = make<arith::MulIOp>(widened(left), widened(right)), product = make<arith::TruncIOp>(type, whole);
    return {product, compare(arith::CmpIPredicate::ne, widened(product), whole)};
  }
  if (!hasSign) {
    auto product = make<arith::MulUIExtendedOp>(left, right);
    return {product.getLow(), compare(arith::CmpIPredicate::ne, product.getHigh(), zero(type))};
  }
  auto product = make<arith::MulSIExtendedOp>(left, right);
  Value sign = make<arith::ShRSIOp>(product.getLow(), integer(type, bits - 1));
  return {product.getLow(), compare(arith::CmpIPredicate::ne, product.getHigh(), sign)};
}

/// Saturating sums and differences.
Value Body::saturating(bool isSum, bool hasSign, Value left, Value right) {
  const mlir::Type type = left.getType();
  if (!hasSign) {
    if (!isSum)
      return make<arith::SubIOp>(make<arith::MaxUIOp>(left, right), right);
    Value room = make<arith::XOrIOp>(right, integer(type, llvm::APInt::getAllOnes(bitsOf(left))));
    return make<arith::AddIOp>(make<arith::MinUIOp>(left, room), right);
  }
  Value result = isSum ? make<arith::AddIOp>(left, right).getResult() : make<arith::SubIOp>(left, right).getResult();
  // One that has left the type has the other sign than it ought to: the limit is that of the left operand.
  const unsigned bits = bitsOf(left);
  Value sign = make<arith::ShRSIOp>(left, integer(type, bits - 1));
  Value limit = make<arith::XOrIOp>(sign, integer(type, llvm::APInt::getSignedMaxValue(bits)));
  return make<arith::SelectOp>(leavesType(isSum, left, right, result), limit, result);
}

// ---- bits ----

/// The upper (fshl) or lower (fshr) half of two values side by side that are shifted; a rotation where they are one.
Value Body::funnelShift(bool isLeft, Value high, Value low, const llvm::Value* by) {
  const mlir::Type type = high.getType();
  const unsigned bits = bitsOf(high);
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(by)) {
    const uint64_t count = constant->getValue().urem(bits);
    if (count == 0)
      return isLeft ? high : low;
    const uint64_t left = isLeft ? count : bits - count;
    return make<arith::OrIOp>(make<arith::ShLIOp>(high, integer(type, left)),
                              make<arith::ShRUIOp>(low, integer(type, bits - left)));
  }
  if (bits == 1)
    return isLeft ? high : low;
  Value last = integer(type, bits - 1), one = integer(type, uint64_t(1)), count = valueOf(by), rest;
  if (llvm::isPowerOf2_32(bits)) {
    if (high == low) { // in the form that LLVM knows a rotation by
      count = make<arith::AndIOp>(count, last);
      rest = make<arith::AndIOp>(make<arith::SubIOp>(zero(type), count), last);
      return isLeft ? make<arith::OrIOp>(make<arith::ShLIOp>(high, count), make<arith::ShRUIOp>(low, rest))
                    : make<arith::OrIOp>(make<arith::ShRUIOp>(low, count), make<arith::ShLIOp>(high, rest));
    }
    count = make<arith::AndIOp>(count, last);
  } else {
    count = make<arith::RemUIOp>(count, integer(type, uint64_t(bits)));
  }
  // By one, and by what is left of the other count: never by as many as there are bits.
  rest = make<arith::SubIOp>(last, count);
  if (isLeft)
    return make<arith::OrIOp>(make<arith::ShLIOp>(high, count),
                              make<arith::ShRUIOp>(make<arith::ShRUIOp>(low, one), rest));
  return make<arith::OrIOp>(make<arith::ShRUIOp>(low, count),
                            make<arith::ShLIOp>(make<arith::ShLIOp>(high, one), rest));
}

/// Bytes, or bits, in the other order: neighbours of so many bits change places, then those of twice as many.
Value Body::reversed(Value value, unsigned smallest) {
  const mlir::Type type = value.getType();
  const unsigned bits = bitsOf(value), whole = std::max<unsigned>(llvm::PowerOf2Ceil(bits), smallest);
  const mlir::Type wide = builder_.getIntegerType(whole);
  if (whole != bits)
    value = make<arith::ExtUIOp>(wide, value);
  for (unsigned part = smallest; part < whole; part *= 2) {
    Value by = integer(wide, uint64_t(part));
    Value up = value, down = make<arith::ShRUIOp>(value, by);
    if (2 * part < whole) {
      // Every other part, from the lowest on.
      Value mask = integer(wide, llvm::APInt::getSplat(whole, llvm::APInt::getLowBitsSet(2 * part, part)));
      up = make<arith::AndIOp>(up, mask);
      down = make<arith::AndIOp>(down, mask);
    }
    value = make<arith::OrIOp>(make<arith::ShLIOp>(up, by), down);
  }
  if (whole == bits)
    return value;
  return make<arith::TruncIOp>(type, make<arith::ShRUIOp>(value, integer(wide, uint64_t(whole - bits))));
}

Value Body::integerFunction(llvm::CallInst& call) {
  const auto operand = [&](unsigned number) { return valueOf(call.getArgOperand(number)); };
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::smin:
    return make<arith::MinSIOp>(operand(0), operand(1));
  case llvm::Intrinsic::smax:
    return make<arith::MaxSIOp>(operand(0), operand(1));
  case llvm::Intrinsic::umin:
    return make<arith::MinUIOp>(operand(0), operand(1));
  case llvm::Intrinsic::umax:
    return make<arith::MaxUIOp>(operand(0), operand(1));
  case llvm::Intrinsic::abs: {
    Value value = operand(0);
    Value negated = make<arith::SubIOp>(zero(value.getType()), value);
    return make<arith::MaxSIOp>(value, negated);
  }
  case llvm::Intrinsic::uadd_sat:
    return saturating(true, false, operand(0), operand(1));
  case llvm::Intrinsic::usub_sat:
    return saturating(false, false, operand(0), operand(1));
  case llvm::Intrinsic::sadd_sat:
    return saturating(true, true, operand(0), operand(1));
  case llvm::Intrinsic::ssub_sat:
    return saturating(false, true, operand(0), operand(1));
  case llvm::Intrinsic::fshl:
    return funnelShift(true, operand(0), operand(1), call.getArgOperand(2));
  case llvm::Intrinsic::fshr:
    return funnelShift(false, operand(0), operand(1), call.getArgOperand(2));
  case llvm::Intrinsic::bswap:
    return reversed(operand(0), 8);
  case llvm::Intrinsic::bitreverse:
    return reversed(operand(0), 1);
  case llvm::Intrinsic::ctpop:
    return make<math::CtPopOp>(operand(0));
  case llvm::Intrinsic::ctlz:
    return make<math::CountLeadingZerosOp>(operand(0));
  case llvm::Intrinsic::cttz:
    return make<math::CountTrailingZerosOp>(operand(0));
  case llvm::Intrinsic::ucmp:
  case llvm::Intrinsic::scmp: { // 1, 0 or -1
    const bool hasSign = call.getIntrinsicID() == llvm::Intrinsic::scmp;
    const mlir::Type type = typeOf(call.getType());
    Value left = operand(0), right = operand(1);
    Value more = compare(hasSign ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::ugt, left, right);
    Value less = compare(hasSign ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult, left, right);
    return make<arith::SubIOp>(make<arith::ExtUIOp>(type, more), make<arith::ExtUIOp>(type, less));
  }
  default:
    return {};
  }
}

} // namespace strata::raise
