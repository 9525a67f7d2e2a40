// What a search tried, in order, and how that is told: as a record in YAML that a user can read, and as a picture of
// times over trials. Pure functions; any thread.
#pragma once

#include "compiler/notation/choice.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::driver {

struct TriedMapping {
  std::vector<int64_t> values;   ///< of each choice
  std::optional<double> seconds; ///< nothing: it was not taken
  std::string why;               ///< it was not taken; empty else
};

struct History {
  std::string program, entry, machine, version;
  std::vector<std::pair<std::string, int64_t>> sizes;
  std::vector<notation::Choice> choices;
  std::vector<TriedMapping> tried; ///< the first is where the search begins
  size_t best = 0;                 ///< in `tried`
  double before = 0, after = 0;    ///< seconds of the first and the best, measured in turns at the end
  std::string ended;               ///< why the search ended: "after 60 s"
  bool isEstimated = false;        ///< times are the described machine's, by estimate
};

/// "block of Cut 4096, loop i: swp of Cut 2"; only what differs from `from`, all where that is empty. Empty where
/// nothing differs.
std::string valuesText(const History& history, const std::vector<int64_t>& values,
                       const std::vector<int64_t>& from = {});

std::string historyYaml(const History& history);

/// An SVG document: a point for each trial, a line for the best so far, a mark below for what was not taken. The
/// pointer on a point shows its values.
std::string historyPicture(const History& history);

} // namespace strata::driver
