// What makes a problem of modulo scheduling meaningless. See schedule.h.
#include "compiler/target/array/schedule.h"

#include <set>

namespace strata::array {

std::string ScheduleProblem::check() const {
  constexpr int64_t largest = int64_t{1} << 24; // of every number: sums of products do not overflow
  constexpr size_t many = 512;
  const auto isSmall = [](int64_t value) { return value >= -largest && value <= largest; };
  if (operations.size() > many)
    return std::to_string(operations.size()) + " operations; " + std::to_string(many) + " are supported";
  for (const Operation& each : operations) {
    if (each.choices.empty())
      return "operation '" + each.name + "': no unit executes it";
    std::set<uint32_t> classes;
    for (const Choice& choice : each.choices) {
      if (choice.unit >= units.size())
        return "operation '" + each.name + "': unit " + std::to_string(choice.unit) + ", there are " +
               std::to_string(units.size());
      if (!classes.insert(choice.unit).second)
        return "operation '" + each.name + "': two choices of unit '" + units[choice.unit].name + "'";
      if (choice.busy < 1 || !isSmall(choice.busy))
        return "operation '" + each.name + "': busy for " + std::to_string(choice.busy) + " cycles";
      if (choice.latency < 0 || !isSmall(choice.latency))
        return "operation '" + each.name + "': latency of " + std::to_string(choice.latency) + " cycles";
    }
  }
  for (const Constraint& each : constraints) {
    if (each.from >= operations.size() || each.to >= operations.size())
      return "constraint from operation " + std::to_string(each.from) + " to " + std::to_string(each.to) +
             ", there are " + std::to_string(operations.size());
    if (!isSmall(each.iterations) || !isSmall(each.cycles))
      return "constraint from '" + operations[each.from].name + "' to '" + operations[each.to].name +
             "': " + std::to_string(each.iterations) + " iterations, " + std::to_string(each.cycles) + " cycles";
  }
  for (const auto& [a, b] : exclusive)
    if (a >= operations.size() || b >= operations.size() || a == b)
      return "operations " + std::to_string(a) + " and " + std::to_string(b) + " are no pair of the " +
             std::to_string(operations.size()) + " operations";
  return "";
}

} // namespace strata::array
