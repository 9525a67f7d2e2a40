// See condition_table.h.
#include "compiler/target/array/condition_table.h"

#include <algorithm>

namespace strata::array {

Linear linear(const equations::Affine& value, size_t loops, size_t parameters) {
  Linear made{value.iterators, value.parameters, value.constant};
  made.loops.resize(loops, 0);
  made.parameters.resize(parameters, 0);
  return made;
}

uint32_t ConditionTable::condition(const equations::Constraint& constraint) {
  std::string key = std::to_string(static_cast<int>(constraint.kind)) + "/" + std::to_string(constraint.modulus);
  const Linear value = linear(constraint.value, loops_, parameters_);
  for (const int64_t each : value.loops)
    key += "," + std::to_string(each);
  for (const int64_t each : value.parameters)
    key += ";" + std::to_string(each);
  key += "+" + std::to_string(value.constant);
  const auto [found, isNew] = conditions_.try_emplace(key, static_cast<uint32_t>(made_.conditions.size()));
  if (isNew)
    made_.conditions.push_back({static_cast<Condition::Kind>(constraint.kind), value, constraint.modulus});
  return found->second;
}

std::optional<uint32_t> ConditionTable::spaceOf(const isl::set& set, const isl::set& within) {
  Space made;
  if (within.is_subset(set)) {
    made.pieces = {{}};
  } else {
    std::optional<equations::Space> space = equations::Polyhedra::space(equations::coalesced(set.gist(within)));
    if (!space)
      space = equations::Polyhedra::space(equations::coalesced(set));
    if (!space)
      return std::nullopt;
    for (const std::vector<equations::Constraint>& piece : space->pieces) {
      std::vector<uint32_t>& conditions = made.pieces.emplace_back();
      for (const equations::Constraint& each : piece)
        conditions.push_back(condition(each));
      std::sort(conditions.begin(), conditions.end());
    }
  }
  const auto [found, isNew] = spaces_.try_emplace(made.pieces, static_cast<uint32_t>(made_.spaces.size()));
  if (isNew)
    made_.spaces.push_back(std::move(made));
  return found->second;
}

} // namespace strata::array
