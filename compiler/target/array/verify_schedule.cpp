// Is a schedule one for its problem? Units are filled in, slot by slot, and every constraint is computed. See
// schedule.h.
#include "compiler/target/array/schedule.h"

#include <map>
#include <set>
#include <tuple>

namespace strata::array {

std::string verify(const ScheduleProblem& problem, const Schedule& schedule) {
  constexpr int64_t latest = int64_t{1} << 50; // what is added to it does not overflow
  if (std::string wrong = problem.check(); !wrong.empty())
    return wrong;
  if (schedule.interval < 1 || schedule.interval > int64_t{1} << 24)
    return "an interval of " + std::to_string(schedule.interval);
  if (schedule.lowerBound < 1 || schedule.lowerBound > schedule.interval)
    return "an interval of " + std::to_string(schedule.interval) + " and a lower bound of " +
           std::to_string(schedule.lowerBound);
  if (schedule.slots.size() != problem.operations.size())
    return std::to_string(schedule.slots.size()) + " slots for " + std::to_string(problem.operations.size()) +
           " operations";
  for (size_t i = 0; i < schedule.slots.size(); ++i) {
    const Schedule::Slot& slot = schedule.slots[i];
    const ScheduleProblem::Operation& operation = problem.operations[i];
    if (slot.offset < 0 || slot.offset > latest)
      return "'" + operation.name + "' begins at " + std::to_string(slot.offset);
    if (slot.choice >= operation.choices.size())
      return "'" + operation.name + "' has choice " + std::to_string(slot.choice) + " of " +
             std::to_string(operation.choices.size());
    const ScheduleProblem::Choice& choice = operation.choices[slot.choice];
    if (slot.instance >= problem.units[choice.unit].count)
      return "'" + operation.name + "' is on " + problem.units[choice.unit].name + std::to_string(slot.instance) +
             ", there are " + std::to_string(problem.units[choice.unit].count);
    if (choice.busy > schedule.interval)
      return "'" + operation.name + "' keeps " + problem.units[choice.unit].name + std::to_string(slot.instance) +
             " busy for longer than an interval";
  }
  for (const ScheduleProblem::Constraint& each : problem.constraints) {
    const auto time = [&](uint32_t at, bool isArrival) {
      const Schedule::Slot& slot = schedule.slots[at];
      return slot.offset + (isArrival ? problem.operations[at].choices[slot.choice].latency : 0);
    };
    const int64_t to = time(each.to, each.toArrival) + schedule.interval * each.iterations;
    const int64_t from = time(each.from, each.fromArrival) + each.cycles;
    if (to < from)
      return "'" + problem.operations[each.to].name + "' is at " + std::to_string(to) + ", " +
             std::to_string(from - to) + " cycles too early after '" + problem.operations[each.from].name + "'";
  }
  std::set<std::pair<uint32_t, uint32_t>> exclusive;
  for (const auto& [a, b] : problem.exclusive) {
    exclusive.emplace(a, b);
    exclusive.emplace(b, a);
  }
  std::map<std::tuple<uint32_t, uint32_t, int64_t>, std::vector<uint32_t>> table; // by class, instance, cycle
  for (uint32_t i = 0; i < schedule.slots.size(); ++i) {
    const Schedule::Slot& slot = schedule.slots[i];
    const ScheduleProblem::Choice& choice = problem.operations[i].choices[slot.choice];
    for (int64_t cycle = 0; cycle < choice.busy; ++cycle) {
      std::vector<uint32_t>& there = table[{choice.unit, slot.instance, (slot.offset + cycle) % schedule.interval}];
      for (const uint32_t other : there)
        if (!exclusive.contains({i, other}) || schedule.slots[other].offset != slot.offset)
          return "'" + problem.operations[other].name + "' and '" + problem.operations[i].name + "' are both on " +
                 problem.units[choice.unit].name + std::to_string(slot.instance) + " in slot " +
                 std::to_string((slot.offset + cycle) % schedule.interval);
      there.push_back(i);
    }
  }
  return "";
}

} // namespace strata::array
