// Functions of real numbers: LLVM's intrinsics and those of C's library. Each has the bits that Clang's own code has.
// Where a function rounds once, or not at all, it is written as arithmetic; others are operations of the math dialect,
// or calls of the library.
#include "compiler/raise/body.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"

namespace strata::raise {

namespace arith = mlir::arith;
namespace func = mlir::func;
namespace math = mlir::math;
namespace scf = mlir::scf;

using mlir::Value;

// ---- functions of C's library ----

/// What an intrinsic does; not_intrinsic: there is none. None has an effect but to set errno, which nobody in a kernel
/// asks.
static llvm::Intrinsic::ID intrinsicOf(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::Intrinsic::ID>(name)
      .Case("sqrt", llvm::Intrinsic::sqrt)
      .Case("fabs", llvm::Intrinsic::fabs)
      .Case("floor", llvm::Intrinsic::floor)
      .Case("ceil", llvm::Intrinsic::ceil)
      .Case("trunc", llvm::Intrinsic::trunc)
      .Case("rint", llvm::Intrinsic::rint)
      .Case("nearbyint", llvm::Intrinsic::nearbyint)
      .Case("roundeven", llvm::Intrinsic::roundeven)
      .Case("round", llvm::Intrinsic::round)
      .Case("lround", llvm::Intrinsic::lround)
      .Case("llround", llvm::Intrinsic::llround)
      .Case("lrint", llvm::Intrinsic::lrint)
      .Case("llrint", llvm::Intrinsic::llrint)
      .Case("exp", llvm::Intrinsic::exp)
      .Case("exp2", llvm::Intrinsic::exp2)
      .Case("log", llvm::Intrinsic::log)
      .Case("log2", llvm::Intrinsic::log2)
      .Case("log10", llvm::Intrinsic::log10)
      .Case("sin", llvm::Intrinsic::sin)
      .Case("cos", llvm::Intrinsic::cos)
      .Case("tan", llvm::Intrinsic::tan)
      .Case("asin", llvm::Intrinsic::asin)
      .Case("acos", llvm::Intrinsic::acos)
      .Case("atan", llvm::Intrinsic::atan)
      .Case("sinh", llvm::Intrinsic::sinh)
      .Case("cosh", llvm::Intrinsic::cosh)
      .Case("tanh", llvm::Intrinsic::tanh)
      .Case("pow", llvm::Intrinsic::pow)
      .Case("fma", llvm::Intrinsic::fma)
      .Case("copysign", llvm::Intrinsic::copysign)
      .Case("fmin", llvm::Intrinsic::minnum)
      .Case("fmax", llvm::Intrinsic::maxnum)
      .Cases("ldexp", "scalbn", "scalbln", llvm::Intrinsic::ldexp)
      .Default(llvm::Intrinsic::not_intrinsic);
}

/// What a function of the library takes and gives, its parameters behind a colon: r is a real number, i an int, l a
/// long. Empty: it is none that is known.
static llvm::StringRef signatureOf(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases("sqrt", "fabs", "floor", "ceil", "trunc", "rint", "nearbyint", "roundeven", "round", "r:r")
      .Cases("exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "r:r")
      .Cases("atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "erf", "erfc", "r:r")
      .Cases("expm1", "log1p", "exp10", "logb", "tgamma", "r:r")
      .Cases("pow", "copysign", "fmin", "fmax", "atan2", "fmod", "hypot", "fdim", "remainder", "nextafter", "r:rr")
      .Case("fma", "r:rrr")
      .Cases("lround", "llround", "lrint", "llrint", "l:r")
      .Cases("ldexp", "scalbn", "r:ri")
      .Case("scalbln", "r:rl")
      .Case("ilogb", "i:r")
      .Default("");
}

/// The name without the letter of its type, where a call is one of a function of C's library that is known.
llvm::StringRef Body::libraryFunction(const llvm::CallInst& call) const {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || callee->isIntrinsic() || call.isNoBuiltin())
    return {};
  llvm::StringRef name = callee->getName(), signature = signatureOf(name);
  const bool isFloat = signature.empty() && name.consume_back("f");
  if (isFloat)
    signature = signatureOf(name);
  const auto isA = [&](const llvm::Type* type, char letter) {
    if (letter == 'r')
      return isFloat ? type->isFloatTy() : type->isDoubleTy();
    return type->isIntegerTy(letter == 'i' ? 32 : 64);
  };
  const llvm::FunctionType* type = callee->getFunctionType();
  if (signature.empty() || type->isVarArg() || type->getNumParams() + 2 != signature.size() ||
      !isA(type->getReturnType(), signature[0]))
    return {};
  for (unsigned number = 0; number < type->getNumParams(); ++number)
    if (!isA(type->getParamType(number), signature[number + 2]))
      return {};
  return name;
}

/// A function for which there is neither operation nor formula: the program declares it under a name of its own, and
/// has LLVM code that calls it.
Value Body::callLibrary(llvm::StringRef name, llvm::CallInst& call) {
  auto program = builder_.getInsertionBlock()->getParentOp()->getParentOfType<mlir::ModuleOp>();
  Values given;
  for (const llvm::Value* argument : call.args())
    given.push_back(valueOf(argument));
  const mlir::Type result = typeOf(call.getType());
  const std::string symbol = ("library." + name).str();
  auto declared = program.lookupSymbol<func::FuncOp>(symbol);
  if (!declared) {
    mlir::OpBuilder outside = mlir::OpBuilder::atBlockEnd(program.getBody());
    std::string text;
    llvm::raw_string_ostream stream(text);
    const auto list = [&](llvm::StringRef variable) {
      llvm::interleaveComma(llvm::enumerate(call.args()), stream, [&](auto each) {
        stream << *each.value()->getType();
        if (!variable.empty())
          stream << " " << variable << each.index();
      });
    };
    stream << "define " << *call.getType() << " @" << symbol << "(";
    list("%a");
    stream << ") {\n  %r = call " << *call.getType() << " @" << name << "(";
    list("%a");
    stream << ")\n  ret " << *call.getType() << " %r\n}\ndeclare " << *call.getType() << " @" << name << "(";
    list("");
    stream << ")\n";
    declared = outside.create<func::FuncOp>(place_, symbol,
                                            outside.getFunctionType(mlir::ValueRange(given).getTypes(), result));
    declared.setPrivate();
    outside.create<svm::LLVMSourceOp>(place_, symbol + ".code", text);
  }
  return make<func::CallOp>(declared, given).getResult(0);
}

// ---- formulas ----

Value Body::real(mlir::Type type, double value) {
  return make<arith::ConstantOp>(builder_.getFloatAttr(type, value));
}

Value Body::compare(arith::CmpFPredicate predicate, Value left, Value right) {
  return make<arith::CmpFOp>(predicate, left, right);
}

/// A real number as the integer of the same bits.
Value Body::bitsOfReal(Value value) {
  return make<arith::BitcastOp>(builder_.getIntegerType(value.getType().getIntOrFloatBitWidth()), value);
}

/// fmin and fmax: a number wins over a NaN. C leaves open which of two zeros wins; here it is the one that LLVM's code
/// has on x86, which compares in the order that makes do with one test for NaNs, or with none.
Value Body::extremeNumber(bool isLeast, const llvm::CallInst& call) {
  const auto isNumber = [&](unsigned operand) {
    return llvm::isKnownNeverNaN(call.getArgOperand(operand), 0, llvm::SimplifyQuery(analyses_.layout, &call));
  };
  Value first = valueOf(call.getArgOperand(0)), second = valueOf(call.getArgOperand(1));
  const auto predicate = isLeast ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT;
  if (isNumber(1))
    return make<arith::SelectOp>(compare(predicate, first, second), first, second);
  Value better = make<arith::SelectOp>(compare(predicate, second, first), second, first);
  if (isNumber(0))
    return better;
  return make<arith::SelectOp>(compare(arith::CmpFPredicate::UNO, first, first), second, better);
}

/// IEEE's minimum and maximum: a NaN wins, and -0 is less than 0.
Value Body::extreme(bool isLeast, Value left, Value right) {
  const auto predicate = isLeast ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT;
  Value better = make<arith::SelectOp>(compare(predicate, left, right), left, right);
  // Equal ones differ in their signs at most.
  Value first = bitsOfReal(left), second = bitsOfReal(right);
  Value joined = isLeast ? make<arith::OrIOp>(first, second).getResult() : make<arith::AndIOp>(first, second);
  Value equal = make<arith::BitcastOp>(left.getType(), joined);
  better = make<arith::SelectOp>(compare(arith::CmpFPredicate::OEQ, left, right), equal, better);
  Value sum = make<arith::AddFOp>(left, right);
  return make<arith::SelectOp>(compare(arith::CmpFPredicate::UNO, left, right), sum, better);
}

/// A whole real number as an integer with a sign; beyond its limits, and for a NaN, the least, as x86 has it.
Value Body::wholeNumber(Value value, mlir::Type type) {
  const unsigned bits = type.getIntOrFloatBitWidth();
  const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
  Value isInside = make<arith::AndIOp>(compare(arith::CmpFPredicate::OGE, value, real(value.getType(), -limit)),
                                       compare(arith::CmpFPredicate::OLT, value, real(value.getType(), limit)));
  Value inside = make<arith::SelectOp>(isInside, value, zero(value.getType()));
  Value whole = make<arith::FPToSIOp>(type, inside);
  return make<arith::SelectOp>(isInside, whole, integer(type, llvm::APInt::getSignedMinValue(bits)));
}

/// A real number as the nearest integer that the type has, towards zero; a NaN as 0.
Value Body::nearestInside(Value value, mlir::Type type, bool hasSign) {
  const unsigned bits = type.getIntOrFloatBitWidth();
  const mlir::Type own = value.getType();
  const double most = std::ldexp(1.0, static_cast<int>(hasSign ? bits - 1 : bits)), least = hasSign ? -most : 0;
  Value whole = make<math::TruncOp>(value);
  Value isLow = compare(arith::CmpFPredicate::OLT, whole, real(own, least));
  Value isHigh = compare(arith::CmpFPredicate::OGE, whole, real(own, most));
  Value isNone = compare(arith::CmpFPredicate::UNO, whole, whole);
  Value isOutside = make<arith::OrIOp>(make<arith::OrIOp>(isLow, isHigh), isNone);
  Value inside = make<arith::SelectOp>(isOutside, zero(own), whole);
  Value result = hasSign ? make<arith::FPToSIOp>(type, inside).getResult() : make<arith::FPToUIOp>(type, inside);
  const llvm::APInt low = hasSign ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0);
  const llvm::APInt high = hasSign ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  result = make<arith::SelectOp>(isLow, integer(type, low), result);
  return make<arith::SelectOp>(isHigh, integer(type, high), result);
}

/// 2 to a power within double's normal exponents, given in 64 bits.
Value Body::powerOfTwo(Value exponent) {
  const mlir::Type word = builder_.getI64Type();
  Value biased = make<arith::AddIOp>(exponent, integer(word, uint64_t(1023)));
  return make<arith::BitcastOp>(builder_.getF64Type(), make<arith::ShLIOp>(biased, integer(word, uint64_t(52))));
}

/// value * 2^exponent, rounded once.
Value Body::scaled(Value value, Value exponent) {
  const mlir::Type word = builder_.getI64Type();
  if (exponent.getType() != word)
    exponent = make<arith::ExtSIOp>(word, exponent);
  const auto clamped = [&](int64_t least, int64_t most) -> Value {
    Value low = integer(word, static_cast<uint64_t>(least)), high = integer(word, static_cast<uint64_t>(most));
    return make<arith::MinSIOp>(make<arith::MaxSIOp>(exponent, low), high);
  };
  if (value.getType().isF32()) {
    // A double holds each product of a float with such a power; beyond them all are 0 or infinite.
    Value product =
        make<arith::MulFOp>(make<arith::ExtFOp>(builder_.getF64Type(), value), powerOfTwo(clamped(-300, 300)));
    return make<arith::TruncFOp>(builder_.getF32Type(), product);
  }
  // In three steps. The first two leave so much of a small exponent that what they round becomes 0 with the third.
  exponent = clamped(-2200, 2200);
  for (int step = 0; step < 2; ++step) {
    constexpr int64_t up = 1023, down = -969;
    Value isGreat = compare(arith::CmpIPredicate::sgt, exponent, integer(word, uint64_t(up)));
    Value isSmall = compare(arith::CmpIPredicate::slt, exponent, integer(word, static_cast<uint64_t>(-1022)));
    Value part = make<arith::SelectOp>(isSmall, integer(word, static_cast<uint64_t>(down)), zero(word));
    part = make<arith::SelectOp>(isGreat, integer(word, uint64_t(up)), part);
    value = make<arith::MulFOp>(value, powerOfTwo(part));
    exponent = make<arith::SubIOp>(exponent, part);
  }
  return make<arith::MulFOp>(value, powerOfTwo(clamped(-1022, 1023)));
}

/// frexp: the number as a part from a half up to one and an exponent, which is 0 of zeros, infinities and NaNs.
std::pair<Value, Value> Body::fractionAndExponent(Value value) {
  const bool isFloat = value.getType().isF32();
  const unsigned digits = isFloat ? 23 : 52; // that are stored
  const uint64_t most = isFloat ? 0xff : 0x7ff;
  const mlir::Type word = builder_.getIntegerType(isFloat ? 32 : 64);
  const auto number = [&](uint64_t given) { return integer(word, given); };
  const auto exponentOf = [&](Value bits) -> Value {
    return make<arith::AndIOp>(make<arith::ShRUIOp>(bits, number(digits)), number(most));
  };
  // A number too small for an exponent of its own is read off a multiple of it.
  Value own = bitsOfReal(value);
  Value isSmall = compare(arith::CmpIPredicate::eq, exponentOf(own), number(0));
  Value multiple = make<arith::MulFOp>(value, real(value.getType(), static_cast<double>(uint64_t(2) << digits)));
  Value bits = make<arith::SelectOp>(isSmall, bitsOfReal(multiple), own);
  Value exponent = exponentOf(bits);
  Value isNone = make<arith::OrIOp>(compare(arith::CmpIPredicate::eq, exponent, number(most)),
                                    compare(arith::CmpIPredicate::eq, exponent, number(0)));
  Value less = make<arith::SelectOp>(isSmall, number(most / 2 + digits), number(most / 2 - 1));
  Value power = make<arith::SelectOp>(isNone, number(0), make<arith::SubIOp>(exponent, less));
  if (!isFloat)
    power = make<arith::TruncIOp>(builder_.getI32Type(), power);
  Value part =
      make<arith::OrIOp>(make<arith::AndIOp>(bits, number(~(most << digits))), number((most / 2 - 1) << digits));
  return {make<arith::SelectOp>(isNone, value, make<arith::BitcastOp>(value.getType(), part)), power};
}

/// A power with an integer as its exponent: squares, multiplied from the lowest bit of the exponent on, as the
/// compilers' own function does it.
Value Body::integerPower(Value base, const llvm::Value* given) {
  const mlir::Type type = base.getType();
  Value one = real(type, 1);
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(given)) {
    Value power;
    llvm::APInt left = constant->getValue().abs();
    for (Value square = base; !left.isZero();) {
      if (left[0])
        power = power ? make<arith::MulFOp>(power, square).getResult() : square;
      left.lshrInPlace(1);
      if (!left.isZero())
        square = make<arith::MulFOp>(square, square);
    }
    if (!power)
      return one;
    return constant->isNegative() ? make<arith::DivFOp>(one, power).getResult() : power;
  }
  Value exponent = valueOf(given);
  const mlir::Type bits = exponent.getType();
  Value negated = make<arith::SubIOp>(zero(bits), exponent);
  Value left = make<arith::MaxSIOp>(exponent, negated); // without a sign
  const auto isOdd = [&](Value value) -> Value {
    return compare(arith::CmpIPredicate::ne, make<arith::AndIOp>(value, integer(bits, uint64_t(1))), zero(bits));
  };
  Value first = make<arith::SelectOp>(isOdd(left), base, one);
  const llvm::SmallVector<mlir::Type> types{bits, type, type};
  auto loop = make<scf::WhileOp>(types, Values{left, base, first});
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    const llvm::SmallVector<mlir::Location> places(3, place_);
    mlir::Block* before = builder_.createBlock(&loop.getBefore(), {}, types, places);
    Value half = make<arith::ShRUIOp>(before->getArgument(0), integer(bits, uint64_t(1)));
    make<scf::ConditionOp>(compare(arith::CmpIPredicate::ne, half, zero(bits)),
                           Values{half, before->getArgument(1), before->getArgument(2)});
    mlir::Block* after = builder_.createBlock(&loop.getAfter(), {}, types, places);
    Value square = make<arith::MulFOp>(after->getArgument(1), after->getArgument(1));
    Value power = make<arith::MulFOp>(after->getArgument(2), square);
    power = make<arith::SelectOp>(isOdd(after->getArgument(0)), power, after->getArgument(2));
    make<scf::YieldOp>(Values{after->getArgument(0), square, power});
  }
  Value power = loop.getResult(2);
  Value isNegative = compare(arith::CmpIPredicate::slt, exponent, zero(bits));
  return make<arith::SelectOp>(isNegative, make<arith::DivFOp>(one, power), power);
}

/// Whether a real number is of one of the classes (infinite, normal, …), by its bits.
Value Body::isOfClass(Value value, llvm::FPClassTest classes) {
  using Is = arith::CmpIPredicate;
  const llvm::fltSemantics& form = llvm::cast<mlir::FloatType>(value.getType()).getFloatSemantics();
  const unsigned width = llvm::APFloat::semanticsSizeInBits(form);
  const unsigned fraction = llvm::APFloat::semanticsPrecision(form) - 1;
  Value bits = bitsOfReal(value);
  const mlir::Type type = bits.getType();
  const auto constant = [&](const llvm::APInt& number) { return integer(type, number); };
  const llvm::APInt infinity = llvm::APFloat::getInf(form).bitcastToAPInt();
  const llvm::APInt quiet = infinity | llvm::APInt::getOneBitSet(width, fraction - 1);
  const llvm::APInt smallest = llvm::APInt::getOneBitSet(width, fraction); // that is normal
  Value size = make<arith::AndIOp>(bits, constant(llvm::APInt::getSignedMaxValue(width)));
  Value hasSign = compare(Is::slt, bits, zero(type));
  Value found;
  const auto add = [&](Value is) { found = found ? make<arith::OrIOp>(found, is).getResult() : is; };
  const auto below = [&](const llvm::APInt& from, const llvm::APInt& to) { // from <= size < to
    return compare(Is::ult, make<arith::SubIOp>(size, constant(from)), constant(to - from));
  };
  const auto addSigned = [&](llvm::FPClassTest positive, llvm::FPClassTest negative, llvm::function_ref<Value()> is) {
    const bool takesPositive = classes & positive, takesNegative = classes & negative;
    if (!takesPositive && !takesNegative)
      return;
    Value each = is();
    if (!takesPositive)
      each = make<arith::AndIOp>(each, hasSign);
    else if (!takesNegative)
      each = make<arith::AndIOp>(each, make<arith::XOrIOp>(hasSign, make<arith::ConstantIntOp>(1, 1)));
    add(each);
  };
  if (classes & llvm::fcSNan)
    add(below(infinity + 1, quiet));
  if (classes & llvm::fcQNan)
    add(compare(Is::uge, size, constant(quiet)));
  addSigned(llvm::fcPosInf, llvm::fcNegInf, [&] { return compare(Is::eq, size, constant(infinity)); });
  addSigned(llvm::fcPosNormal, llvm::fcNegNormal, [&] { return below(smallest, infinity); });
  addSigned(llvm::fcPosSubnormal, llvm::fcNegSubnormal, [&] { return below(llvm::APInt(width, 1), smallest); });
  addSigned(llvm::fcPosZero, llvm::fcNegZero, [&] { return compare(Is::eq, size, zero(type)); });
  return found ? found : make<arith::ConstantIntOp>(0, 1).getResult();
}

// ---- all of them ----

Value Body::realFunction(llvm::CallInst& call) {
  const auto operand = [&](unsigned number) { return valueOf(call.getArgOperand(number)); };
  const mlir::Type type = typeOf(call.getType());
  const llvm::StringRef name = libraryFunction(call);
  const llvm::Intrinsic::ID id = call.getIntrinsicID() ? call.getIntrinsicID() : intrinsicOf(name);
  switch (id) {
  case llvm::Intrinsic::fmuladd: {
    const auto fuses =
        arith::FastMathFlagsAttr::get(builder_.getContext(), flagsOf(call).getValue() | arith::FastMathFlags::contract);
    auto product = make<arith::MulFOp>(operand(0), operand(1));
    product.setFastmathAttr(fuses);
    auto sum = make<arith::AddFOp>(product, operand(2));
    sum.setFastmathAttr(fuses);
    return sum;
  }
  case llvm::Intrinsic::fma:
    return floating<math::FmaOp>(call, 3);
  case llvm::Intrinsic::sqrt:
    return floating<math::SqrtOp>(call, 1);
  case llvm::Intrinsic::fabs:
    return floating<math::AbsFOp>(call, 1);
  case llvm::Intrinsic::floor:
    return floating<math::FloorOp>(call, 1);
  case llvm::Intrinsic::ceil:
    return floating<math::CeilOp>(call, 1);
  case llvm::Intrinsic::trunc:
    return floating<math::TruncOp>(call, 1);
  case llvm::Intrinsic::round:
    return floating<math::RoundOp>(call, 1);
  case llvm::Intrinsic::rint:
  case llvm::Intrinsic::nearbyint:
  case llvm::Intrinsic::roundeven:
    return floating<math::RoundEvenOp>(call, 1);
  case llvm::Intrinsic::lround:
  case llvm::Intrinsic::llround:
    return wholeNumber(make<math::RoundOp>(operand(0)), type);
  case llvm::Intrinsic::lrint:
  case llvm::Intrinsic::llrint:
    return wholeNumber(make<math::RoundEvenOp>(operand(0)), type);
  case llvm::Intrinsic::fptosi_sat:
    return nearestInside(operand(0), type, true);
  case llvm::Intrinsic::fptoui_sat:
    return nearestInside(operand(0), type, false);
  case llvm::Intrinsic::exp:
    return floating<math::ExpOp>(call, 1);
  case llvm::Intrinsic::exp2:
    return floating<math::Exp2Op>(call, 1);
  case llvm::Intrinsic::log:
    return floating<math::LogOp>(call, 1);
  case llvm::Intrinsic::log2:
    return floating<math::Log2Op>(call, 1);
  case llvm::Intrinsic::log10:
    return floating<math::Log10Op>(call, 1);
  case llvm::Intrinsic::sin:
    return floating<math::SinOp>(call, 1);
  case llvm::Intrinsic::cos:
    return floating<math::CosOp>(call, 1);
  case llvm::Intrinsic::tan:
    return floating<math::TanOp>(call, 1);
  case llvm::Intrinsic::asin:
    return floating<math::AsinOp>(call, 1);
  case llvm::Intrinsic::acos:
    return floating<math::AcosOp>(call, 1);
  case llvm::Intrinsic::atan:
    return floating<math::AtanOp>(call, 1);
  case llvm::Intrinsic::sinh:
    return floating<math::SinhOp>(call, 1);
  case llvm::Intrinsic::cosh:
    return floating<math::CoshOp>(call, 1);
  case llvm::Intrinsic::tanh:
    return floating<math::TanhOp>(call, 1);
  case llvm::Intrinsic::exp10:
    return callLibrary(type.isF32() ? "exp10f" : "exp10", call);
  case llvm::Intrinsic::pow:
    return floating<math::PowFOp>(call, 2);
  case llvm::Intrinsic::powi:
    return integerPower(operand(0), call.getArgOperand(1));
  case llvm::Intrinsic::ldexp:
    return scaled(operand(0), operand(1));
  case llvm::Intrinsic::copysign:
    return floating<math::CopySignOp>(call, 2);
  case llvm::Intrinsic::minnum:
    return extremeNumber(true, call);
  case llvm::Intrinsic::maxnum:
    return extremeNumber(false, call);
  case llvm::Intrinsic::minimum:
    return extreme(true, operand(0), operand(1));
  case llvm::Intrinsic::maximum:
    return extreme(false, operand(0), operand(1));
  case llvm::Intrinsic::is_fpclass:
    return isOfClass(operand(0), static_cast<llvm::FPClassTest>(
                                     llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue()));
  case llvm::Intrinsic::not_intrinsic:
    break;
  default:
    return {};
  }
  if (name.empty())
    return {};
  if (name == "fmod")
    return floating<arith::RemFOp>(call, 2);
  if (name == "fdim") { // 0 where the first is no greater; a NaN is neither
    Value left = operand(0), right = operand(1);
    Value difference = make<arith::SubFOp>(left, right);
    return make<arith::SelectOp>(compare(arith::CmpFPredicate::OLE, left, right), zero(type), difference);
  }
  if (name == "cbrt")
    return floating<math::CbrtOp>(call, 1);
  if (name == "erf")
    return floating<math::ErfOp>(call, 1);
  if (name == "expm1")
    return floating<math::ExpM1Op>(call, 1);
  if (name == "log1p")
    return floating<math::Log1pOp>(call, 1);
  if (name == "asinh")
    return floating<math::AsinhOp>(call, 1);
  if (name == "acosh")
    return floating<math::AcoshOp>(call, 1);
  if (name == "atanh")
    return floating<math::AtanhOp>(call, 1);
  if (name == "atan2")
    return floating<math::Atan2Op>(call, 2);
  return callLibrary(call.getCalledFunction()->getName(), call);
}

} // namespace strata::raise
