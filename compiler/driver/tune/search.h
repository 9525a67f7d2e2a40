// The search among mappings: which combination of values to try next, from what those before have cost. It knows
// nothing of programs: choices have values in ascending order, neighbours in it cost about the same, and what a
// combination costs is told by whoever tries it.
//
// From where it begins it goes downhill: each choice alone, up and down, by steps that double while they gain; then two
// at once, one up and the other down or both the same way, for block sizes that hold each other in balance. Where no
// neighbour is better it begins again at random places. It is deterministic: equal costs, equal steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace strata::driver {

/// One value of each choice, by its position in the ascending list of the choice's values.
using Point = std::vector<size_t>;

struct SearchSpace {
  std::vector<size_t> counts; ///< how many values each choice has; none is 0
  Point begin;
};

struct SearchResult {
  Point best;
  double cost = 0;          ///< of the best
  bool isExhausted = false; ///< every combination was tried
};

/// What a combination costs, nothing where it is refused. Called once for each.
using Evaluate = std::function<std::optional<double>(const Point&)>;

/// A combination is better than another one where it costs less than this share of it: times are not exact.
inline constexpr double gainShare = 0.98;

/// REQUIRES: `begin` costs something. Ends when `isOver` says so, or when nothing new is found.
SearchResult search(const SearchSpace& space, const Evaluate& evaluate, const std::function<bool()>& isOver);

} // namespace strata::driver
