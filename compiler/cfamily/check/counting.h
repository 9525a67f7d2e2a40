// Loops that count: for (i = start; i < bound; i += step), also with <= > >= and downwards. As long as the variable
// does not leave its type, such a loop in C is one over exact numbers. This decides whether that holds, has to be
// checked when the loop begins, or does not, so that the loop must be carried out step by step. Pure functions; safe
// from any thread.
#pragma once

#include "compiler/cfamily/check/range.h"

#include <optional>

namespace strata::cfamily {

struct Counting {
  Scalar type = Scalar::Int;  // of the variable, which the test compares by its value
  int64_t step = 1;           // not 0; negative: downwards
  bool inclusive = false;     // <= or >=
  Range start, bound;         // the variable's first value (of a signed type, before it overflows), and the other side
                              // of the test
  bool unsignedBound = false; // the bound is an unsigned number of 64 bits, of which `bound` tells those below 2^63
};

/// Whether the bound of a loop with the test `variable op bound` is one of the variable's values: < and <= upwards,
/// > and >= downwards. Nothing of any other test, with which the loop does not count.
std::optional<bool> includesBound(Operator test, int64_t step);

struct CountingPlan {
  /// Else the loop is carried out as it stands.
  bool isCounted = false;
  /// The most (downwards: the least) that the bound may be; beyond it the variable never gets there. Absent: it is not.
  std::optional<int64_t> limit;
  /// The bound has to be checked to be below 2^63.
  bool checksSign = false;
  /// Downwards: the number of iterations has to be checked to be below 2^63.
  bool checksSpan = false;
  /// Downwards: start - bound may leave 64 bits where there are no iterations.
  bool clampsSpan = false;
};

/// REQUIRES: |step| <= INT32_MAX, and the test's type holds every value of the variable.
///
/// With steps of one a variable that cannot reach its bound counts for ever, or overflows: a check loses nothing. With
/// larger ones it may step over the end of its type and go on: narrow types are carried out step by step then. For wide
/// ones the bound is checked to lie a step away from the end.
CountingPlan planCounting(const Counting& loop);

/// What the variable is in the loop's body. REQUIRES: the plan counts.
Range valuesIn(const Counting& loop, const CountingPlan& plan);

} // namespace strata::cfamily
