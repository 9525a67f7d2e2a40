// Control signals: what the global controller must send so that every branch of every program finds the way. Signals of
// different branches are one where no iteration asks for different values.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 6.2.
#pragma once

#include "runtime/array/control_flow.h"

namespace strata::array {

/// How a node with several edges branches: signals, and for each of their values the edge.
struct BranchCode {
  std::vector<uint16_t> signals;
  std::vector<uint32_t> edges;
};

struct SignalAllocation {
  std::vector<Diagrams::Set> ones;               // of each signal
  std::vector<std::vector<BranchCode>> branches; // by control flow and node; of those with one edge there is none
};

/// Colours the interference graph in one pass, and in another order if that takes more than `available`, which is not
/// otherwise a limit. All sets are of `diagrams`.
SignalAllocation allocateSignals(std::span<const ControlFlow> flows, size_t available, Diagrams& diagrams);

} // namespace strata::array
