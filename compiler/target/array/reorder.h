// The loops of a tile: skewed or not, in which order, and which of them backwards, an element can execute a program's
// iterations one after the other, so that every value has been computed before the iteration that uses it. Needs isl
// for the dependences.
//
// Source: loop permutation, reversal and skewing; Allen and Kennedy 2001, chapter 5. Hyperplanes: Lamport 1974.
#pragma once

#include "compiler/equations/graph.h"
#include "compiler/equations/order.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::array {

struct LoopOrder {
  std::vector<uint32_t> loops;  // iterators of the graph, the outermost first
  std::vector<bool> isBackward; // by place
};

/// The loop's iterator becomes what it was plus factor times the other.
struct Skew {
  uint32_t loop = 0, by = 0;
  int64_t factor = 1;
};

/// The same program with its iterators skewed, one after the other.
equations::Graph skewed(const equations::Graph& graph, const std::vector<Skew>& skews);

/// Whether all dependences point to later iterations, or within one.
bool isLegal(const LoopOrder& order, const std::vector<equations::Dependence>& dependences);

/// The first legal order, where those that begin with `wished` come first: forward, then with loops backwards. Nothing
/// if there is none.
std::optional<LoopOrder> legalOrder(const std::vector<uint32_t>& wished,
                                    const std::vector<equations::Dependence>& dependences);

/// The fewest and smallest skews of one loop after which there is a legal order; nothing where there is one without, or
/// none was found: distances that go round in a circle have none, and of long ones not all skews are tried.
std::optional<std::vector<Skew>> skewsForOrder(const std::vector<uint32_t>& wished,
                                               const std::vector<equations::Dependence>& dependences);

/// Skews after which no distance along the distributed loops is negative, each by a loop outside of it; nothing where
/// none is negative, or no outer loop helps. REQUIRES: the order is legal. The distributed loops are iterators of the
/// graph.
std::optional<std::vector<Skew>> skewsForTiles(const LoopOrder& order, const std::vector<uint32_t>& distributed,
                                               const std::vector<equations::Dependence>& dependences);

/// Dependences of the skewed program.
std::vector<equations::Dependence> skewed(std::vector<equations::Dependence> dependences,
                                          const std::vector<Skew>& skews);

/// The same program with these loops as its iterators. A loop that is executed backwards counts from the negative of
/// what it did.
equations::Graph reordered(const equations::Graph& graph, const LoopOrder& order);

} // namespace strata::array
