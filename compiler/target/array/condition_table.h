// The conditions and spaces of a symbolic configuration, each kept once and named by its number. Used by one thread.
#pragma once

#include "compiler/equations/graph.h"
#include "compiler/equations/polyhedra.h"
#include "runtime/array/symbolic.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strata::array {

/// With as many factors as there are loops and parameters.
Linear linear(const equations::Affine& value, size_t loops, size_t parameters);

class ConditionTable {
public:
  /// Conditions and spaces are added to `made`, which outlives the table.
  ConditionTable(Symbolic& made, size_t loops, size_t parameters)
      : made_(made), loops_(loops), parameters_(parameters) {}

  /// The number of the set, told apart from the rest of `within` only; nothing if its conditions have no form that
  /// configurations know.
  std::optional<uint32_t> spaceOf(const isl::set& set, const isl::set& within);

private:
  uint32_t condition(const equations::Constraint& constraint);

  Symbolic& made_;
  size_t loops_, parameters_;
  std::map<std::string, uint32_t> conditions_;
  std::map<std::vector<std::vector<uint32_t>>, uint32_t> spaces_;
};

} // namespace strata::array
