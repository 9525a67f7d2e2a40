// What the picture of a mapping says: for each instance a card at each level where it has data or control, with a row
// for each tunable, array, loop and call. Pure functions; the cards are placed and drawn elsewhere.
#pragma once

#include "compiler/sequoia/resolve/sizes.h"

#include <string>
#include <utility>
#include <vector>

namespace strata::sequoia {

/// A line of a card: words, and marks behind them. The title is told when the pointer rests there.
struct Row {
  enum class Kind { Tunable, Array, Loop, Call } kind = Kind::Tunable;
  std::string words, title;
  std::vector<std::string> marks;
  size_t indent = 0;
  std::vector<std::pair<uint32_t, std::string>> targets; // instances that a call may become, with the arrow's words
  bool combines = false;
};

/// What one instance has at one level.
struct Card {
  uint32_t instance = 0;
  unsigned level = 0;
  bool isHome = false; // carries the instance's name
  std::string heading, note;
  std::vector<Row> rows;
};

/// The cards of all instances, in their order, innermost levels first.
std::vector<Card> makeCards(const InstanceGraph& graph, const std::vector<InstanceSizes>& sizes);

} // namespace strata::sequoia
