// Routes of propagation channels: from an element's output port over the wrappers to the input port of a neighbour, the
// same for every element, so that all of them can be connected at once. A problem, its check and verification, and an
// exact solver. Plain data without MLIR or isl; used by one thread.
//
// Source: node-disjoint paths of exact length on the reduced topology graph, "Symbolic Loop Compilation for Tightly
// Coupled Processor Arrays", section 5.4. Prefixes are not shared: on a circuit-switched network all sinks of a shared
// port see every value.
#pragma once

#include "base/machine/machine.h"
#include "runtime/array/symbolic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::array {

struct RouteProblem {
  machine::InterconnectLayer layer;
  uint32_t elementInputs = 0, elementOutputs = 0; // ports of the element: input and output registers
  struct Channel {
    std::string name;
    int64_t rowStep = 0, columnStep = 0; // from the producer to the consumer, rows to the south, columns to the east
  };
  std::vector<Channel> channels;
  uint32_t freeInputs = 0, freeOutputs = 0; // ports of the element that must be left over, for inputs and outputs

  /// What is wrong with the problem; empty when it is sound.
  std::string check() const;
};

struct RouteAllocation {
  /// By channel; what a path is, runtime/array/symbolic.h says (Channel::path). Each port of the wrapper or the element
  /// is in one path at most, and there once.
  std::vector<std::vector<machine::Port>> paths;
  uint64_t hops = 0;       // wrapper to wrapper, of all channels together
  bool isShortest = false; // no allocation has fewer hops: proved
};

/// The routes with the fewest hops that were found; nothing if there are none: `why` names the ports that are too few
/// ("3 channels to the east, the wrapper has 2 ports there").
std::optional<RouteAllocation> solve(const RouteProblem& problem, std::string& why);

/// What the routes break, for people; empty if nothing. Shares no code with the solver.
std::string verify(const RouteProblem& problem, const RouteAllocation& allocation);

} // namespace strata::array
