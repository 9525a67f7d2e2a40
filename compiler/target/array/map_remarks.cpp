// Implements map_remarks.h.
#include "compiler/target/array/map_remarks.h"

#include <map>

namespace strata::array {

STRATA_DIAGNOSTIC(skewedLoop, Remark, "array-skewed", "{0}");
STRATA_DIAGNOSTIC(longerInterval, Remark, "array-interval",
                  "iterations of '{0}' begin {1} cycles after each other; that less than {2} is impossible is proved");

void tellSkews(const equations::Graph& source, const std::vector<Skew>& skews, const std::string& why,
               DiagnosticEngine& diagnostics) {
  std::map<uint32_t, std::string> sums;
  for (const Skew& each : skews) {
    std::string& sum = sums[each.loop];
    const int64_t factor = std::abs(each.factor);
    sum += each.factor < 0 ? (sum.empty() ? "-" : " - ") : (sum.empty() ? "" : " + ");
    sum += (factor == 1 ? "" : std::to_string(factor) + " ") + source.iterators[each.by];
  }
  for (const auto& [loop, sum] : sums)
    diagnostics.report(skewedLoop, source.location,
                       "loop '" + source.iterators[loop] + "' of '" + source.name + "' counts from " + sum +
                           " on: " + why);
}

void tellInterval(const equations::Graph& source, const Symbolic& made, const ProvedInterval& proved,
                  DiagnosticEngine& diagnostics) {
  if (made.interval == made.lowerBound)
    return;
  auto remark = diagnostics.report(longerInterval, source.location, source.name, made.interval, made.lowerBound);
  const std::string least = std::to_string(proved.least);
  if (proved.least == made.interval)
    remark.note("with its values copied, and held in registers and FIFOs, as they are here " + least +
                " is the least: proved");
  else if (proved.isForRegisters)
    remark.note("the number of an element's registers asks for more than the least, which is " + least +
                " or more with its values copied and held as they are here");
  else
    remark.note("with its values copied, and held in registers and FIFOs, as they are here less than " + least +
                " is impossible, which is proved; whether there are schedules between is not decided");
  remark.help("an array whose instructions have more destinations, or more registers, needs fewer copies");
}

} // namespace strata::array
