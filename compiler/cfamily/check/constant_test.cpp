// Constants against what the compiler of this test makes of the same operators: all integer types, at their limits.
#include "compiler/cfamily/check/constant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace strata::cfamily {
namespace {

template <typename T>
constexpr Scalar scalarOf = Scalar::Int;
template <>
constexpr Scalar scalarOf<signed char> = Scalar::SignedChar;
template <>
constexpr Scalar scalarOf<unsigned char> = Scalar::UnsignedChar;
template <>
constexpr Scalar scalarOf<short> = Scalar::Short;
template <>
constexpr Scalar scalarOf<unsigned short> = Scalar::UnsignedShort;
template <>
constexpr Scalar scalarOf<unsigned> = Scalar::UnsignedInt;
template <>
constexpr Scalar scalarOf<long> = Scalar::Long;
template <>
constexpr Scalar scalarOf<unsigned long> = Scalar::UnsignedLong;
template <>
constexpr Scalar scalarOf<float> = Scalar::Float;
template <>
constexpr Scalar scalarOf<double> = Scalar::Double;

template <typename T>
Number number(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return Number::ofReal(scalarOf<T>, value);
  else
    return Number::ofInteger(scalarOf<T>, static_cast<uint64_t>(value));
}

template <typename T>
T valueOf(const Number& given) {
  EXPECT_EQ(given.type, scalarOf<T>);
  return std::is_floating_point_v<T> ? static_cast<T>(given.real) : static_cast<T>(given.integer);
}

template <typename T>
std::vector<T> samples() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{Limits::lowest(), Limits::max(), T(0), T(1), T(-1), T(2), T(7), T(100)};
  if constexpr (std::is_integral_v<T>)
    values.insert(values.end(), {T(Limits::lowest() + 1), T(Limits::max() - 1), T(Limits::max() / 2), T(-77)});
  else
    values.insert(values.end(), {T(0.1), T(-0.5), T(1e18), T(-3.75)});
  return values;
}

template <typename T>
void operators() {
  using U = std::make_unsigned_t<T>;
  for (T a : samples<T>())
    for (T b : samples<T>()) {
      auto gives = [&](Operator op) { return evaluated(op, number(a), number(b)); };
      auto ua = static_cast<U>(a), ub = static_cast<U>(b);
      EXPECT_EQ(valueOf<T>(*gives(Operator::Add).value), static_cast<T>(ua + ub));
      EXPECT_EQ(valueOf<T>(*gives(Operator::Subtract).value), static_cast<T>(ua - ub));
      EXPECT_EQ(valueOf<T>(*gives(Operator::Multiply).value), static_cast<T>(ua * ub));
      EXPECT_EQ(valueOf<T>(*gives(Operator::BitAnd).value), static_cast<T>(a & b));
      EXPECT_EQ(valueOf<T>(*gives(Operator::BitOr).value), static_cast<T>(a | b));
      EXPECT_EQ(valueOf<T>(*gives(Operator::BitXor).value), static_cast<T>(a ^ b));
      EXPECT_EQ(valueOf<int>(*gives(Operator::Less).value), a < b);
      EXPECT_EQ(valueOf<int>(*gives(Operator::GreaterEqual).value), a >= b);
      EXPECT_EQ(valueOf<int>(*gives(Operator::Equal).value), a == b);
      EXPECT_EQ(valueOf<int>(*gives(Operator::LogicalAnd).value), a && b);
      for (Operator op : {Operator::Divide, Operator::Remainder}) {
        Evaluation made = gives(op);
        if (b == 0) {
          EXPECT_EQ(made.fault, Fault::DivisionByZero);
        } else if (std::is_signed_v<T> && a == std::numeric_limits<T>::lowest() && b == T(-1)) {
          EXPECT_EQ(made.fault, Fault::DivisionOverflow);
        } else {
          EXPECT_EQ(valueOf<T>(*made.value), static_cast<T>(op == Operator::Divide ? a / b : a % b));
        }
      }
      Evaluation left = gives(Operator::ShiftLeft), right = gives(Operator::ShiftRight);
      if (b >= T(0) && ub < sizeof(T) * 8) {
        EXPECT_EQ(valueOf<T>(*left.value), static_cast<T>(ua << b));
        EXPECT_EQ(valueOf<T>(*right.value), static_cast<T>(a >> b));
      } else {
        EXPECT_EQ(left.fault, Fault::ShiftAmount);
        EXPECT_EQ(right.fault, Fault::ShiftAmount);
      }
    }
}

TEST(Constant, OperatorsAreThoseOfC) {
  operators<int>();
  operators<unsigned>();
  operators<long>();
  operators<unsigned long>();
}

template <typename From, typename To>
void conversion() {
  for (From value : samples<From>())
    EXPECT_EQ(valueOf<To>(converted(number(value), scalarOf<To>)), static_cast<To>(value));
}

template <typename From>
void integerConversions() {
  conversion<From, signed char>();
  conversion<From, unsigned char>();
  conversion<From, short>();
  conversion<From, unsigned short>();
  conversion<From, int>();
  conversion<From, unsigned>();
  conversion<From, long>();
  conversion<From, unsigned long>();
  conversion<From, float>();
  conversion<From, double>();
}

TEST(Constant, ConversionsOfIntegersAreThoseOfC) {
  integerConversions<signed char>();
  integerConversions<unsigned char>();
  integerConversions<short>();
  integerConversions<unsigned short>();
  integerConversions<int>();
  integerConversions<unsigned>();
  integerConversions<long>();
  integerConversions<unsigned long>();
}

template <typename To>
void nearest() {
  const long double least = std::numeric_limits<To>::lowest(), most = std::numeric_limits<To>::max();
  for (double value :
       {0.0,    -0.5,   -0.99,  1.99,    -1.0,    -1.5,         -3.0,         127.5,         128.0,
        255.9,  300.0,  -129.0, 32767.9, 65536.0, 2147483647.5, 2147483648.0, 4294967295.5,  4294967296.0,
        9.3e18, 1.9e19, 1e30,   -1e30,   -9.3e18, HUGE_VAL,     -HUGE_VAL,    -2147483648.9, -2147483649.0}) {
    const long double cut = std::trunc(static_cast<long double>(value));
    const To wanted = cut < least  ? std::numeric_limits<To>::lowest()
                      : cut > most ? std::numeric_limits<To>::max()
                                   : static_cast<To>(cut);
    EXPECT_EQ(valueOf<To>(converted(number(value), scalarOf<To>)), wanted) << value;
    if (static_cast<double>(static_cast<float>(value)) == value) {
      EXPECT_EQ(valueOf<To>(converted(number(static_cast<float>(value)), scalarOf<To>)), wanted) << value;
    }
  }
  EXPECT_EQ(valueOf<To>(converted(number(std::nan("")), scalarOf<To>)), To(0));
}

TEST(Constant, RealsBecomeTheNearestInteger) {
  nearest<signed char>();
  nearest<unsigned char>();
  nearest<short>();
  nearest<unsigned short>();
  nearest<int>();
  nearest<unsigned>();
  nearest<long>();
  nearest<unsigned long>();
}

TEST(Constant, RealsAreRoundedToTheirType) {
  EXPECT_EQ(evaluated(Operator::Divide, number(1.0F), number(3.0F)).value->real, 1.0F / 3.0F);
  EXPECT_EQ(evaluated(Operator::Multiply, number(1e30F), number(1e30F)).value->real, HUGE_VAL);
  EXPECT_EQ(evaluated(Operator::Add, number(0.1), number(0.2)).value->real, 0.1 + 0.2);
  EXPECT_EQ(evaluated(Operator::Negate, number(0.0)).integer, 0U);
  EXPECT_TRUE(std::signbit(evaluated(Operator::Negate, number(0.0)).real));
  EXPECT_EQ(converted(number(16777217L), Scalar::Float).real, 16777216.0);
  EXPECT_EQ(converted(number(~0UL), Scalar::Double).real, 18446744073709551616.0);
}

TEST(Constant, PromotionsAndCommonTypesAreThoseOfC) {
  EXPECT_EQ(promoted(Scalar::UnsignedShort), Scalar::Int);
  EXPECT_EQ(promoted(Scalar::Bool), Scalar::Int);
  EXPECT_EQ(promoted(Scalar::UnsignedInt), Scalar::UnsignedInt);
  EXPECT_EQ(common(Scalar::Char, Scalar::UnsignedChar), Scalar::Int);
  EXPECT_EQ(common(Scalar::Int, Scalar::UnsignedInt), Scalar::UnsignedInt);
  EXPECT_EQ(common(Scalar::Long, Scalar::UnsignedInt), Scalar::Long);
  EXPECT_EQ(common(Scalar::LongLong, Scalar::UnsignedLong), Scalar::UnsignedLongLong);
  EXPECT_EQ(common(Scalar::UnsignedLong, Scalar::Long), Scalar::UnsignedLong);
  EXPECT_EQ(common(Scalar::Float, Scalar::UnsignedLong), Scalar::Float);
  EXPECT_EQ(common(Scalar::Float, Scalar::Double), Scalar::Double);
}

} // namespace
} // namespace strata::cfamily
