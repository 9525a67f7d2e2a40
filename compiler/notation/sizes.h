// Sizes of an entry point's arrays from what is known of some extents.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::notation {

/// sum of coefficient * size + constant = value: what one dimension of a given array says about the sizes.
struct SizeEquation {
  std::vector<std::pair<int64_t, std::string>> terms;
  int64_t constant = 0;
  int64_t value = 0;
  std::string from; // words for messages: "dimension 0 of 'A'"
};

/// A size, with where its value came from.
struct KnownSize {
  int64_t value = 0;
  std::string from;
};

/// Adds to `known` every size that an equation with one unknown left settles, until none does. Equations that do not
/// come out are left for the check of shapes to report.
void solveSizes(const std::vector<SizeEquation>& equations, std::map<std::string, KnownSize>& known);

} // namespace strata::notation
