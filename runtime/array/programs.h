// Programs from control flow: kernels one after the other, with branches in their last slots.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 6.3.
#pragma once

#include "runtime/array/control_signals.h"

namespace strata::array {

/// Slots of the program; those of `nodes` nodes and, where a node may both go on and halt, one more.
size_t programLength(const ControlFlow& flow, int64_t interval);

/// The program of one unit; empty for an empty flow. REQUIRES: branches are those of the flow's nodes.
Program makeProgram(const ControlFlow& flow, std::span<const BranchCode> branches, int64_t interval);

} // namespace strata::array
