// Floating-point operations of the interpreter, each written once for four formats. Halves are computed in float, which
// is wide enough to round +, -, *, / and square roots as if once; f32 and f64 use the C library's functions of that
// width.
#include "compiler/interpret/float_functions.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>

namespace strata::interpret {

namespace {

const llvm::fltSemantics& halfSemantics(FloatFormat format) {
  return format == FloatFormat::F16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

/// `Value` is the type to compute in; load and store convert from and to bit patterns.
template <FloatFormat F>
struct Format {
  using Value = float;
  static float load(uint64_t bits) {
    if constexpr (F == FloatFormat::F32)
      return llvm::bit_cast<float>(static_cast<uint32_t>(bits));
    else
      return llvm::APFloat(halfSemantics(F), llvm::APInt(16, bits)).convertToFloat();
  }
  static uint64_t store(float value) {
    if constexpr (F == FloatFormat::F32)
      return llvm::bit_cast<uint32_t>(value);
    else
      return round(llvm::APFloat(value));
  }
  static uint64_t round(llvm::APFloat value) {
    bool lost = false;
    value.convert(halfSemantics(F), llvm::APFloat::rmNearestTiesToEven, &lost);
    return value.bitcastToAPInt().getZExtValue();
  }
};
template <>
struct Format<FloatFormat::F64> {
  using Value = double;
  static double load(uint64_t bits) { return llvm::bit_cast<double>(bits); }
  static uint64_t store(double value) { return llvm::bit_cast<uint64_t>(value); }
};

/// IEEE minimum and maximum: a NaN wins, and -0 is less than +0.
template <typename T>
T minimum(T x, T y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<T>::quiet_NaN();
  return x < y || (x == y && std::signbit(x)) ? x : y;
}
template <typename T>
T maximum(T x, T y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<T>::quiet_NaN();
  return x > y || (x == y && !std::signbit(x)) ? x : y;
}
/// A NaN loses.
template <typename T>
T minimumNumber(T x, T y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : minimum(x, y);
}
template <typename T>
T maximumNumber(T x, T y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : maximum(x, y);
}
/// Halfway cases go to even, whatever the rounding mode.
template <typename T>
T roundEven(T x) {
  T nearest = std::round(x);
  if (std::fabs(x - std::trunc(x)) == T(0.5))
    nearest = T(2) * std::round(x / T(2));
  return std::copysign(nearest, x);
}
template <typename T>
T power(T base, int64_t exponent) {
  return std::pow(base, static_cast<T>(exponent));
}

struct Entry {
  const char* name;
  PureFunction functions[4];
};

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is the name of a template.
#define STRATA_FORMATS(NAME, FUNCTION)                                                                                 \
  {                                                                                                                    \
    NAME, {                                                                                                            \
      FUNCTION<FloatFormat::F16>, FUNCTION<FloatFormat::BF16>, FUNCTION<FloatFormat::F32>, FUNCTION<FloatFormat::F64>  \
    }                                                                                                                  \
  }
// NOLINTEND(bugprone-macro-parentheses)
#define STRATA_FLOAT(NAME, EXPRESSION)                                                                                 \
  {                                                                                                                    \
    NAME, {                                                                                                            \
      STRATA_FLOAT_OF(FloatFormat::F16, EXPRESSION), STRATA_FLOAT_OF(FloatFormat::BF16, EXPRESSION),                   \
          STRATA_FLOAT_OF(FloatFormat::F32, EXPRESSION), STRATA_FLOAT_OF(FloatFormat::F64, EXPRESSION)                 \
    }                                                                                                                  \
  }
#define STRATA_FLOAT_OF(F, EXPRESSION)                                                                                 \
  [](uint64_t a, uint64_t b, uint64_t c, unsigned) -> uint64_t {                                                       \
    using Value = Format<F>::Value;                                                                                    \
    [[maybe_unused]] Value x = Format<F>::load(a), y = Format<F>::load(b), z = Format<F>::load(c);                     \
    return Format<F>::store(static_cast<Value>(EXPRESSION));                                                           \
  }

const Entry operations[] = {
    STRATA_FLOAT("arith.addf", x + y),
    STRATA_FLOAT("arith.subf", x - y),
    STRATA_FLOAT("arith.mulf", x* y),
    STRATA_FLOAT("arith.divf", x / y),
    STRATA_FLOAT("arith.remf", std::fmod(x, y)),
    STRATA_FLOAT("arith.minimumf", minimum(x, y)),
    STRATA_FLOAT("arith.maximumf", maximum(x, y)),
    STRATA_FLOAT("arith.minnumf", minimumNumber(x, y)),
    STRATA_FLOAT("arith.maxnumf", maximumNumber(x, y)),
    STRATA_FLOAT("math.sqrt", std::sqrt(x)),
    STRATA_FLOAT("math.rsqrt", Value(1) / std::sqrt(x)),
    STRATA_FLOAT("math.cbrt", std::cbrt(x)),
    STRATA_FLOAT("math.floor", std::floor(x)),
    STRATA_FLOAT("math.ceil", std::ceil(x)),
    STRATA_FLOAT("math.trunc", std::trunc(x)),
    STRATA_FLOAT("math.round", std::round(x)),
    STRATA_FLOAT("math.roundeven", roundEven(x)),
    STRATA_FLOAT("math.exp", std::exp(x)),
    STRATA_FLOAT("math.exp2", std::exp2(x)),
    STRATA_FLOAT("math.expm1", std::expm1(x)),
    STRATA_FLOAT("math.log", std::log(x)),
    STRATA_FLOAT("math.log2", std::log2(x)),
    STRATA_FLOAT("math.log10", std::log10(x)),
    STRATA_FLOAT("math.log1p", std::log1p(x)),
    STRATA_FLOAT("math.sin", std::sin(x)),
    STRATA_FLOAT("math.cos", std::cos(x)),
    STRATA_FLOAT("math.tan", std::tan(x)),
    STRATA_FLOAT("math.asin", std::asin(x)),
    STRATA_FLOAT("math.acos", std::acos(x)),
    STRATA_FLOAT("math.atan", std::atan(x)),
    STRATA_FLOAT("math.atan2", std::atan2(x, y)),
    STRATA_FLOAT("math.sinh", std::sinh(x)),
    STRATA_FLOAT("math.cosh", std::cosh(x)),
    STRATA_FLOAT("math.tanh", std::tanh(x)),
    STRATA_FLOAT("math.asinh", std::asinh(x)),
    STRATA_FLOAT("math.acosh", std::acosh(x)),
    STRATA_FLOAT("math.atanh", std::atanh(x)),
    STRATA_FLOAT("math.erf", std::erf(x)),
    STRATA_FLOAT("math.powf", std::pow(x, y)),
};

template <FloatFormat F>
uint64_t fusedMultiplyAdd(uint64_t a, uint64_t b, uint64_t c, unsigned) {
  if constexpr (F == FloatFormat::F32 || F == FloatFormat::F64) {
    return Format<F>::store(std::fma(Format<F>::load(a), Format<F>::load(b), Format<F>::load(c)));
  } else {
    // A float is not wide enough to round the sum of a product of halves as if once.
    llvm::APFloat value(halfSemantics(F), llvm::APInt(16, a));
    value.fusedMultiplyAdd(llvm::APFloat(halfSemantics(F), llvm::APInt(16, b)),
                           llvm::APFloat(halfSemantics(F), llvm::APInt(16, c)), llvm::APFloat::rmNearestTiesToEven);
    return value.bitcastToAPInt().getZExtValue();
  }
}

/// The operations that only touch the sign work on the pattern, so that a NaN keeps its bits.
template <FloatFormat F>
constexpr unsigned signBit = F == FloatFormat::F64   ? 63
                             : F == FloatFormat::F32 ? 31
                                                     : 15;
template <FloatFormat F>
uint64_t negate(uint64_t a, uint64_t, uint64_t, unsigned) {
  return a ^ (uint64_t(1) << signBit<F>);
}
template <FloatFormat F>
uint64_t absolute(uint64_t a, uint64_t, uint64_t, unsigned) {
  return a & ~(uint64_t(1) << signBit<F>);
}
template <FloatFormat F>
uint64_t copySign(uint64_t a, uint64_t b, uint64_t, unsigned) {
  uint64_t mask = uint64_t(1) << signBit<F>;
  return (a & ~mask) | (b & mask);
}
template <FloatFormat F>
uint64_t integerPower(uint64_t a, uint64_t b, uint64_t, unsigned width) {
  return Format<F>::store(power(Format<F>::load(a), signExtend(b, width)));
}

const Entry bitOperations[] = {
    STRATA_FORMATS("math.fma", fusedMultiplyAdd), STRATA_FORMATS("arith.negf", negate),
    STRATA_FORMATS("math.absf", absolute),        STRATA_FORMATS("math.copysign", copySign),
    STRATA_FORMATS("math.fpowi", integerPower),
};

/// For each predicate of arith the relations it holds for. Bit 0: equal, 1: greater, 2: less, 3: unordered.
constexpr unsigned relations[16] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 8, 15};

template <FloatFormat F, unsigned Predicate>
uint64_t compare(uint64_t a, uint64_t b, uint64_t, unsigned) {
  auto x = Format<F>::load(a), y = Format<F>::load(b);
  unsigned relation = x == y ? 1 : x > y ? 2 : x < y ? 4 : 8;
  return (relations[Predicate] & relation) != 0;
}
template <FloatFormat F, size_t... Predicates>
PureFunction comparisonOf(unsigned predicate, std::index_sequence<Predicates...>) {
  static constexpr PureFunction table[] = {compare<F, Predicates>...};
  return predicate < sizeof...(Predicates) ? table[predicate] : nullptr;
}

template <FloatFormat From, FloatFormat To>
uint64_t convert(uint64_t a, uint64_t, uint64_t, unsigned) {
  auto value = Format<From>::load(a);
  if constexpr (To == FloatFormat::F64 || To == FloatFormat::F32)
    return Format<To>::store(static_cast<typename Format<To>::Value>(value));
  else
    return Format<To>::round(llvm::APFloat(value)); // once, not by way of float
}
template <FloatFormat From>
PureFunction conversionFrom(FloatFormat to) {
  switch (to) {
  case FloatFormat::F16:
    return convert<From, FloatFormat::F16>;
  case FloatFormat::BF16:
    return convert<From, FloatFormat::BF16>;
  case FloatFormat::F32:
    return convert<From, FloatFormat::F32>;
  case FloatFormat::F64:
    return convert<From, FloatFormat::F64>;
  }
  return nullptr;
}

template <FloatFormat F, bool Signed>
uint64_t toInteger(uint64_t a, uint64_t, uint64_t, unsigned width) {
  double value = std::trunc(static_cast<double>(Format<F>::load(a)));
  if (std::isnan(value))
    return 0;
  double limit = std::ldexp(1.0, static_cast<int>(Signed ? width - 1 : width));
  uint64_t most = lowBits(~uint64_t(0), Signed ? width - 1 : width);
  if (value >= limit)
    return most;
  if (value < (Signed ? -limit : 0.0))
    return Signed ? lowBits(~most, width) : 0;
  return lowBits(Signed ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value), width);
}
template <FloatFormat F, bool Signed>
uint64_t isInteger(uint64_t a, uint64_t, uint64_t, unsigned width) {
  const double value = std::trunc(static_cast<double>(Format<F>::load(a)));
  const double limit = std::ldexp(1.0, static_cast<int>(Signed ? width - 1 : width));
  return value < limit && value >= (Signed ? -limit : 0.0);
}
template <FloatFormat F, bool Signed>
uint64_t fromInteger(uint64_t a, uint64_t, uint64_t, unsigned width) {
  if constexpr (F == FloatFormat::F32 || F == FloatFormat::F64) {
    using Value = typename Format<F>::Value;
    return Format<F>::store(Signed ? static_cast<Value>(signExtend(a, width)) : static_cast<Value>(a));
  } else {
    llvm::APFloat value(halfSemantics(F));
    value.convertFromAPInt(llvm::APInt(width, a), Signed, llvm::APFloat::rmNearestTiesToEven);
    return value.bitcastToAPInt().getZExtValue();
  }
}

} // namespace

std::optional<FloatFormat> floatFormat(mlir::Type type) {
  if (type.isF32())
    return FloatFormat::F32;
  if (type.isF64())
    return FloatFormat::F64;
  if (type.isF16())
    return FloatFormat::F16;
  if (type.isBF16())
    return FloatFormat::BF16;
  return std::nullopt;
}

PureFunction floatOperation(llvm::StringRef name, FloatFormat format) {
  for (const Entry& entry : operations)
    if (name == entry.name)
      return entry.functions[static_cast<unsigned>(format)];
  for (const Entry& entry : bitOperations)
    if (name == entry.name)
      return entry.functions[static_cast<unsigned>(format)];
  return nullptr;
}

PureFunction floatComparison(unsigned predicate, FloatFormat format) {
  auto all = std::make_index_sequence<16>();
  switch (format) {
  case FloatFormat::F16:
    return comparisonOf<FloatFormat::F16>(predicate, all);
  case FloatFormat::BF16:
    return comparisonOf<FloatFormat::BF16>(predicate, all);
  case FloatFormat::F32:
    return comparisonOf<FloatFormat::F32>(predicate, all);
  case FloatFormat::F64:
    return comparisonOf<FloatFormat::F64>(predicate, all);
  }
  return nullptr;
}

PureFunction floatToFloat(FloatFormat from, FloatFormat to) {
  switch (from) {
  case FloatFormat::F16:
    return conversionFrom<FloatFormat::F16>(to);
  case FloatFormat::BF16:
    return conversionFrom<FloatFormat::BF16>(to);
  case FloatFormat::F32:
    return conversionFrom<FloatFormat::F32>(to);
  case FloatFormat::F64:
    return conversionFrom<FloatFormat::F64>(to);
  }
  return nullptr;
}

PureFunction floatToInteger(FloatFormat from, bool isSigned) {
  switch (from) {
  case FloatFormat::F16:
    return isSigned ? toInteger<FloatFormat::F16, true> : toInteger<FloatFormat::F16, false>;
  case FloatFormat::BF16:
    return isSigned ? toInteger<FloatFormat::BF16, true> : toInteger<FloatFormat::BF16, false>;
  case FloatFormat::F32:
    return isSigned ? toInteger<FloatFormat::F32, true> : toInteger<FloatFormat::F32, false>;
  case FloatFormat::F64:
    return isSigned ? toInteger<FloatFormat::F64, true> : toInteger<FloatFormat::F64, false>;
  }
  return nullptr;
}

PureFunction floatFitsInteger(FloatFormat from, bool isSigned) {
  switch (from) {
  case FloatFormat::F16:
    return isSigned ? isInteger<FloatFormat::F16, true> : isInteger<FloatFormat::F16, false>;
  case FloatFormat::BF16:
    return isSigned ? isInteger<FloatFormat::BF16, true> : isInteger<FloatFormat::BF16, false>;
  case FloatFormat::F32:
    return isSigned ? isInteger<FloatFormat::F32, true> : isInteger<FloatFormat::F32, false>;
  case FloatFormat::F64:
    return isSigned ? isInteger<FloatFormat::F64, true> : isInteger<FloatFormat::F64, false>;
  }
  return nullptr;
}

PureFunction integerToFloat(FloatFormat to, bool isSigned) {
  switch (to) {
  case FloatFormat::F16:
    return isSigned ? fromInteger<FloatFormat::F16, true> : fromInteger<FloatFormat::F16, false>;
  case FloatFormat::BF16:
    return isSigned ? fromInteger<FloatFormat::BF16, true> : fromInteger<FloatFormat::BF16, false>;
  case FloatFormat::F32:
    return isSigned ? fromInteger<FloatFormat::F32, true> : fromInteger<FloatFormat::F32, false>;
  case FloatFormat::F64:
    return isSigned ? fromInteger<FloatFormat::F64, true> : fromInteger<FloatFormat::F64, false>;
  }
  return nullptr;
}

} // namespace strata::interpret
