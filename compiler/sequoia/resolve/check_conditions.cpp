// Bounds of a mapping that stand beside each other: whether any extent, or any count of selections, meets all of them.
#include "compiler/sequoia/resolve/resolver.h"

#include <limits>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(contradiction, Error, "sequoia-mapping-contradiction", "{0}: {1} would have to be {2} and {3}");

namespace {

/// The least and the greatest number that a relation to a value admits.
std::pair<int64_t, int64_t> admitted(Relation relation, int64_t value) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  switch (relation) {
  case Relation::Less:
    return {0, value - 1};
  case Relation::AtMost:
    return {0, value};
  case Relation::Equal:
    return {value, value};
  case Relation::AtLeast:
    return {value, most};
  case Relation::Greater:
    return {value == most ? most : value + 1, most};
  }
  return {0, most};
}

} // namespace

bool Resolver::agree(const std::vector<const SizeBound*>& bounds, const std::string& who, const std::string& what,
                     const Location& declared) {
  for (size_t dimension = 0; !bounds.empty() && dimension < bounds[0]->values.size(); ++dimension) {
    int64_t least = 0, most = std::numeric_limits<int64_t>::max();
    const SizeBound *lower = nullptr, *upper = nullptr;
    for (const SizeBound* bound : bounds) {
      auto [from, to] = admitted(bound->relation, bound->values[dimension]);
      if (from > least)
        least = from, lower = bound;
      if (to < most)
        most = to, upper = bound;
    }
    if (least <= most)
      continue;
    const std::string name = declared.valid() ? what + " in dimension " + std::to_string(dimension) : what;
    DiagnosticBuilder report =
        diagnostics_.report(contradiction, upper->place.location, who, name, std::to_string(least) + " or more",
                            most < 0 ? std::string("fewer than 0") : std::to_string(most) + " or fewer");
    if (lower && lower != upper)
      report.label(lower->place.location, "at odds with this");
    if (declared.valid())
      report.label(declared, "the array");
    report.help("change one of the numbers, or take one of the conditions out");
    return false;
  }
  return true;
}

} // namespace strata::sequoia
