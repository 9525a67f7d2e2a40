// Solving of size equations by substitution: each names few sizes, and most name one.
#include "compiler/notation/sizes.h"

namespace strata::notation {

namespace {

/// The value of the one unknown size of an equation; nothing when there is none, or more than one, or no whole value.
std::optional<std::pair<std::string, int64_t>> solve(const SizeEquation& equation,
                                                     const std::map<std::string, KnownSize>& known) {
  __int128 rest = static_cast<__int128>(equation.value) - equation.constant;
  const std::pair<int64_t, std::string>* unknown = nullptr;
  for (const auto& term : equation.terms) {
    auto found = known.find(term.second);
    if (found != known.end())
      rest -= static_cast<__int128>(term.first) * found->second.value;
    else if (unknown)
      return std::nullopt;
    else
      unknown = &term;
  }
  if (!unknown || unknown->first == 0 || rest % unknown->first != 0)
    return std::nullopt;
  __int128 value = rest / unknown->first;
  if (value < 0 || value > (static_cast<__int128>(1) << 62))
    return std::nullopt;
  return std::make_pair(unknown->second, static_cast<int64_t>(value));
}

} // namespace

void solveSizes(const std::vector<SizeEquation>& equations, std::map<std::string, KnownSize>& known) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const SizeEquation& equation : equations)
      if (auto solved = solve(equation, known)) {
        known[solved->first] = {solved->second, equation.from};
        changed = true;
      }
  }
}

} // namespace strata::notation
