// Sums, products and quotients of ranges, in 128 bits; what does not fit 64 is not known.
#include "compiler/cfamily/check/range.h"

#include <algorithm>
#include <initializer_list>

namespace strata::cfamily {

namespace {

using Wide = __int128;

Range fitted(Wide least, Wide most) {
  if (least < INT64_MIN || most > INT64_MAX)
    return {};
  return {static_cast<int64_t>(least), static_cast<int64_t>(most)};
}

Range hull(std::initializer_list<Wide> values) {
  return fitted(std::min(values), std::max(values));
}

/// The largest number of as many bits as `value`, which is not negative.
int64_t allOnes(int64_t value) {
  uint64_t ones = static_cast<uint64_t>(value);
  for (unsigned shift = 1; shift < 64; shift *= 2)
    ones |= ones >> shift;
  return static_cast<int64_t>(ones);
}

Range quotient(Range a, Range b) {
  if (b.least < 1)
    return a.least == INT64_MIN
               ? Range()
               : fitted(std::min<Wide>(a.least, -Wide(a.most)), std::max<Wide>(a.most, -Wide(a.least)));
  return hull({Wide(a.least) / b.least, Wide(a.least) / b.most, Wide(a.most) / b.least, Wide(a.most) / b.most});
}

Range remainder(Range a, Range b) {
  const Wide largest =
      std::max(b.most < 0 ? -Wide(b.most) : Wide(b.most), b.least < 0 ? -Wide(b.least) : Wide(b.least)) - 1;
  if (largest < 0)
    return a; // by zero, which ends the program
  return fitted(a.least >= 0 ? 0 : std::max<Wide>(-largest, a.least),
                a.most <= 0 ? 0 : std::min<Wide>(largest, a.most));
}

/// Of & | ^: what two's complement numbers of as many bits make.
Range bitwise(Operator op, Range a, Range b) {
  if (op == Operator::BitAnd && (a.least >= 0 || b.least >= 0))
    return {0, a.least >= 0 && b.least >= 0 ? std::min(a.most, b.most) : a.least >= 0 ? a.most : b.most};
  if (op != Operator::BitAnd && a.least >= 0 && b.least >= 0)
    return {0, allOnes(std::max(a.most, b.most))};
  const Range narrow = Range::of(Scalar::Int);
  return a.within(narrow.least, narrow.most) && b.within(narrow.least, narrow.most) ? narrow : Range();
}

} // namespace

Range Range::of(Scalar type) {
  const unsigned bits = bitsOf(type);
  if (isFloating(type) || bits >= 64)
    return {};
  if (!isSigned(type))
    return {0, (int64_t(1) << bits) - 1};
  return {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
}

Range Range::united(Range other) const {
  return {std::min(least, other.least), std::max(most, other.most)};
}

Range negated(Range range) {
  return fitted(-Wide(range.most), -Wide(range.least));
}

Range evaluated(Operator op, Range a, Range b) {
  switch (op) {
  case Operator::Add:
    return fitted(Wide(a.least) + b.least, Wide(a.most) + b.most);
  case Operator::Subtract:
    return fitted(Wide(a.least) - b.most, Wide(a.most) - b.least);
  case Operator::Multiply:
    return hull({Wide(a.least) * b.least, Wide(a.least) * b.most, Wide(a.most) * b.least, Wide(a.most) * b.most});
  case Operator::Divide:
    return quotient(a, b);
  case Operator::Remainder:
    return remainder(a, b);
  case Operator::ShiftLeft:
    if (!b.within(0, 63))
      return {};
    return hull({Wide(a.least) * (Wide(1) << b.least), Wide(a.least) * (Wide(1) << b.most),
                 Wide(a.most) * (Wide(1) << b.least), Wide(a.most) * (Wide(1) << b.most)});
  case Operator::ShiftRight:
    return {std::min<int64_t>(a.least, 0), std::max<int64_t>(a.most, 0)};
  case Operator::BitAnd:
  case Operator::BitOr:
  case Operator::BitXor:
    return bitwise(op, a, b);
  default:
    return isComparison(op) || op == Operator::LogicalAnd || op == Operator::LogicalOr ? Range{0, 1} : Range();
  }
}

} // namespace strata::cfamily
