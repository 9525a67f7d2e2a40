// Decides how a counting loop is carried out, in exact numbers of 128 bits.
#include "compiler/cfamily/check/counting.h"

#include <algorithm>

namespace strata::cfamily {

namespace {

using Wide = __int128;

/// The values of a type as signed numbers of 64 bits.
Range valuesOf(Scalar type) {
  return isSigned(type) || bitsOf(type) < 64 ? Range::of(type) : Range{0, INT64_MAX};
}

/// The variable's value behind a loop whose start and bound are known, in exact numbers.
Wide lastValue(const Counting& loop) {
  const Wide start = loop.start.least, bound = loop.bound.least;
  const Wide step = loop.step > 0 ? loop.step : -Wide(loop.step);
  const Wide span = (loop.step > 0 ? bound - start : start - bound) + loop.inclusive;
  const Wide count = span <= 0 ? 0 : (span + step - 1) / step;
  return start + count * loop.step;
}

} // namespace

std::optional<bool> includesBound(Operator test, int64_t step) {
  if (test == (step > 0 ? Operator::Less : Operator::Greater))
    return false;
  if (test == (step > 0 ? Operator::LessEqual : Operator::GreaterEqual))
    return true;
  return std::nullopt;
}

CountingPlan planCounting(const Counting& loop) {
  const Range values = valuesOf(loop.type);
  const bool up = loop.step > 0;
  const int64_t step = up ? loop.step : -loop.step;
  const int64_t margin = step - 1 + loop.inclusive;
  CountingPlan plan;
  // Numbers of 2^63 and more are carried out step by step.
  const bool startFits = loop.start.within(values.least, values.most);
  if ((!startFits && !isSigned(loop.type)) || (loop.unsignedBound && (!up || loop.start.least > INT64_MAX / 2)))
    return plan;
  const bool bothKnown = startFits && loop.start.isOne() && loop.bound.isOne() && !loop.unsignedBound;
  const bool fits = bothKnown ? values.least <= lastValue(loop) && lastValue(loop) <= values.most
                    : up      ? !loop.unsignedBound && loop.bound.most <= values.most - margin
                              : loop.bound.least >= values.least + margin;
  const bool mayGoOn = step > 1 && (bitsOf(loop.type) < 32 || bothKnown || (!up && !isSigned(loop.type)));
  if (!fits && mayGoOn)
    return plan;
  plan.isCounted = true;
  if (!fits) {
    plan.limit = up ? values.most - margin : values.least + margin;
    plan.checksSign = loop.unsignedBound;
  }
  if (up)
    return plan;
  const Wide least = plan.limit ? std::max(*plan.limit, loop.bound.least) : loop.bound.least;
  plan.checksSpan = Wide(loop.start.most) - least + loop.inclusive > INT64_MAX;
  plan.clampsSpan = plan.checksSpan || Wide(loop.start.least) - loop.bound.most < INT64_MIN;
  return plan;
}

Range valuesIn(const Counting& loop, const CountingPlan& plan) {
  const Range values = valuesOf(loop.type);
  if (!loop.start.within(values.least, values.most))
    return Range::of(loop.type);
  if (loop.step > 0) {
    const int64_t most = plan.limit ? std::min(*plan.limit, loop.bound.most) : loop.bound.most;
    return {loop.start.least, std::max(loop.start.least, loop.inclusive || most == INT64_MIN ? most : most - 1)};
  }
  const int64_t least = plan.limit ? std::max(*plan.limit, loop.bound.least) : loop.bound.least;
  return {std::min(loop.start.most, loop.inclusive || least == INT64_MAX ? least : least + 1), loop.start.most};
}

} // namespace strata::cfamily
