// Is an allocation one for its values? Of two in one register, do the cycles meet? See registers.h.
#include "compiler/target/array/registers.h"

#include <set>

namespace strata::array {

std::string verify(const RegisterProblem& problem, const RegisterAllocation& allocation) {
  if (std::string wrong = problem.check(); !wrong.empty())
    return wrong;
  if (allocation.registers.size() != problem.values.size())
    return std::to_string(allocation.registers.size()) + " registers for " + std::to_string(problem.values.size()) +
           " values";
  if (allocation.used > problem.registers)
    return std::to_string(allocation.used) + " registers are used, there are " + std::to_string(problem.registers);
  if (allocation.lowerBound > allocation.used)
    return std::to_string(allocation.used) + " registers are used and the lower bound is " +
           std::to_string(allocation.lowerBound);
  std::set<uint32_t> used;
  for (size_t i = 0; i < problem.values.size(); ++i) {
    used.insert(allocation.registers[i]);
    if (allocation.registers[i] >= allocation.used)
      return "value '" + problem.values[i].name + "' is in register " + std::to_string(allocation.registers[i]) + ", " +
             std::to_string(allocation.used) + " are used";
  }
  if (used.size() != allocation.used)
    return std::to_string(used.size()) + " registers are used and not " + std::to_string(allocation.used);
  std::set<std::pair<uint32_t, uint32_t>> compatible;
  for (const auto& [a, b] : problem.compatible) {
    compatible.emplace(a, b);
    compatible.emplace(b, a);
  }
  // Arcs meet if one, moved by an interval back or forth, meets the other on the line.
  const int64_t interval = problem.interval;
  for (uint32_t a = 0; a < problem.values.size(); ++a)
    for (uint32_t b = a + 1; b < problem.values.size(); ++b) {
      if (allocation.registers[a] != allocation.registers[b] || compatible.contains({a, b}))
        continue;
      const RegisterProblem::Value &left = problem.values[a], &right = problem.values[b];
      const int64_t from = (left.first % interval + interval) % interval;
      for (const int64_t moved : {-interval, int64_t{0}, interval}) {
        const int64_t other = (right.first % interval + interval) % interval + moved;
        if (other < from + left.cycles && from < other + right.cycles)
          return "values '" + left.name + "' and '" + right.name + "' are both alive in register " +
                 std::to_string(allocation.registers[a]);
      }
    }
  return "";
}

} // namespace strata::array
