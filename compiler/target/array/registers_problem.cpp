// What is asked of registers before a solver or a verifier looks at them. See registers.h.
#include "compiler/target/array/registers.h"

namespace strata::array {

std::string RegisterProblem::check() const {
  constexpr int64_t largest = int64_t{1} << 40;
  constexpr size_t many = 4096;
  if (interval < 1 || interval > largest)
    return "an interval of " + std::to_string(interval);
  if (values.size() > many)
    return std::to_string(values.size()) + " values; " + std::to_string(many) + " are supported";
  for (const Value& each : values) {
    if (each.first < -largest || each.first > largest)
      return "value '" + each.name + "' begins at " + std::to_string(each.first);
    if (each.cycles < 1 || each.cycles > interval)
      return "value '" + each.name + "' lives for " + std::to_string(each.cycles) + " cycles of an interval of " +
             std::to_string(interval);
  }
  for (const auto& [a, b] : compatible)
    if (a >= values.size() || b >= values.size() || a == b)
      return "values " + std::to_string(a) + " and " + std::to_string(b) + " are no pair of the " +
             std::to_string(values.size()) + " values";
  return "";
}

} // namespace strata::array
