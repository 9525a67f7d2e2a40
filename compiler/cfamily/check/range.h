// The values that an integer expression may have, as far as they are known without running the program. Computed
// exactly: a result of an operator that may leave 64 bits is not known. Pure functions; safe from any thread.
#pragma once

#include "compiler/cfamily/check/scalar.h"
#include "compiler/cfamily/syntax/operators.h"

namespace strata::cfamily {

/// From the least to the most, as signed numbers of 64 bits; everything when nothing is known. An unsigned number above
/// INT64_MAX has no range but that.
struct Range {
  int64_t least = INT64_MIN, most = INT64_MAX;

  static Range of(Scalar type);
  static Range only(int64_t value) { return {value, value}; }
  /// Whether it says anything.
  bool isKnown() const { return least != INT64_MIN || most != INT64_MAX; }
  bool isOnly(int64_t value) const { return least == value && most == value; }
  /// Exactly one value.
  bool isOne() const { return least == most; }
  bool within(int64_t from, int64_t to) const { return least >= from && most <= to; }
  bool has(int64_t value) const { return least <= value && value <= most; }
  /// A value of an integer type of at most 64 bits, of those that `of` tells, keeps it when it is converted there.
  bool fits(Scalar type) const { return within(of(type).least, of(type).most); }
  /// Both of these.
  Range united(Range other) const;
};

/// The range of a binary operator's exact result; of a comparison or logical operator, 0 and 1.
Range evaluated(Operator op, Range left, Range right);
Range negated(Range range);

} // namespace strata::cfamily
