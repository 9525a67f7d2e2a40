// What a mapping chooses and another mapping may choose otherwise, as a search sees it: names with numbers. No choice
// changes what a program computes. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace strata::notation {

/// A tunable's value, a number that says how a loop is executed, or which of several ways to compute the same is taken.
struct Choice {
  std::string instance, name;       ///< "Cut", and "block" or "loop i: swp"
  int64_t value = 0;                ///< in the mapping in use
  std::vector<int64_t> values;      ///< that are worth a trial, ascending; `value` is one of them
  std::vector<std::string> words{}; ///< what the values 0, 1, … mean, where they are names; else empty

  /// A value for people.
  std::string text(int64_t of) const { return words.empty() ? std::to_string(of) : words.at(static_cast<size_t>(of)); }
};

/// Values chosen, by instance and name.
using Chosen = std::map<std::pair<std::string, std::string>, int64_t>;

} // namespace strata::notation
