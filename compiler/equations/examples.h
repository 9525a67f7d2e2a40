// Points of sets in words, for messages: "N = 4, i = 3".
#pragma once

#include "compiler/equations/polyhedra.h"

#include <string>
#include <vector>

namespace strata::equations {

struct Names {
  const std::vector<std::string>& iterators;
  const std::vector<std::string>& parameters;
};

/// One of the points, with small sizes if there is such a one. REQUIRES: the set has iterations, and is not empty.
inline std::string exampleText(const Polyhedra& polyhedra, const isl::set& set, const Names& names) {
  const std::vector<int64_t> values = polyhedra.sample(set);
  std::string result;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool isParameter = i < names.parameters.size();
    const std::string& name = isParameter ? names.parameters[i] : names.iterators[i - names.parameters.size()];
    result += (result.empty() ? "" : ", ") + name + " = " + std::to_string(values[i]);
  }
  return result;
}

} // namespace strata::equations
