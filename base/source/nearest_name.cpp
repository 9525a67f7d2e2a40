// Finds the nearest name by edit distance. Pure functions but for the help that is added to a message; any thread.
#include "base/source/nearest_name.h"

#include <algorithm>
#include <numeric>

namespace strata {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Optimal string alignment distance (insert, delete, replace, swap of neighbours), ignoring the case of ASCII letters.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> beforeLast(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
    beforeLast.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

} // namespace

std::string nearestName(std::string_view name, const std::vector<std::string>& candidates) {
  // The distance is quadratic in the length, and nothing that long is a slip of the finger.
  constexpr size_t longest = 200, shortestPrefix = 3;
  if (name.empty() || name.size() > longest)
    return "";
  const size_t allowed = name.size() < 3 ? 1 : (name.size() + 2) / 3;
  const std::string* best = nullptr;
  // What is left out at the end counts as one change, however long it is; of two that are as near so, the one with
  // fewer changes is nearer.
  std::pair<size_t, size_t> bestDistance{allowed, ~size_t(0)};
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate.size() > longest)
      continue;
    const size_t shorter = std::min(name.size(), candidate.size()), longer = std::max(name.size(), candidate.size());
    const bool begun =
        name.size() >= shortestPrefix && candidate.size() > name.size() &&
        std::equal(name.begin(), name.end(), candidate.begin(), [](char a, char b) { return lower(a) == lower(b); });
    if (!begun && longer - shorter > bestDistance.first)
      continue;
    const size_t distance = begun ? longer - shorter : editDistance(name, candidate);
    // With nothing in common it is another name, however short both are; the name itself is no slip.
    if (distance >= longer || candidate == name)
      continue;
    if (const std::pair<size_t, size_t> found{begun ? 1 : distance, distance}; found < bestDistance) {
      best = &candidate;
      bestDistance = found;
    }
  }
  return best ? *best : "";
}

DiagnosticBuilder& proposeName(DiagnosticBuilder& builder, std::string_view name,
                               const std::vector<std::string>& candidates) {
  if (std::string nearest = nearestName(name, candidates); !nearest.empty())
    builder.help("did you mean '" + nearest + "'?");
  return builder;
}

} // namespace strata
