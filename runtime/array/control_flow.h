// The control flow of one functional unit in one processor class: which instructions it executes in which iteration,
// and what follows. Instructions that belong to earlier iterations are folded in; iterations with the same instructions
// are one kernel.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 6.1. Kernel classes come from
// joining all sets in one pass, and edges from joining the kernels with those of the next iteration, where the document
// compares in pairs.
#pragma once

#include "runtime/array/diagrams.h"
#include "runtime/array/instantiate.h"

#include <map>

namespace strata::array {

/// What one unit does at one offset with one operation: symbolic instructions that differ in their iterations, their
/// operands or where their results go, as one. Sets of a processor class are numbers into a list of sets.
///
/// Example: `v = a + b if c; v = a + b if not c` may become two instructions; where they are executed at one offset,
/// they are one here, and no class has to know which of them it was.
struct PlacedInstruction {
  std::vector<const SymbolicInstruction*> instructions; // at least one
  uint32_t when = 0;
  std::map<Register, uint32_t> destinations;
  std::vector<std::map<Operand, uint32_t>> operands; // by operand and alternative
  const SymbolicInstruction& first() const { return *instructions.front(); }
};

struct ControlFlow {
  static constexpr uint32_t halt = UINT32_MAX;
  struct Edge {
    uint32_t to = halt;
    Diagrams::Set when = Diagrams::none; // the iterations of the node that are followed by the other
  };
  /// A node's iterations are the union of its edges'. Several may have the same kernel.
  struct Node {
    uint32_t kernel = 0;
    std::vector<Edge> edges; // by size, the largest first
  };
  std::vector<std::vector<Functional>> kernels; // an instruction for each slot
  std::vector<Node> nodes;                      // by their first iterations; empty: the unit has nothing to do
};

/// Joins the sets of one unit. An error where two instructions meet in one slot or an operand has no source, which a
/// sound symbolic configuration does not lead to.
std::variant<ControlFlow, InstantiationError> makeControlFlow(std::span<const PlacedInstruction> instructions,
                                                              std::span<const Diagrams::Set> sets, int64_t interval,
                                                              Diagrams& diagrams);

/// Splits nodes by what follows them until none has more than `most` edges. False where that does not come to an end
/// with `limit` nodes; the control flow is then of no use. REQUIRES: most >= 2.
bool limitEdges(ControlFlow& flow, size_t most, size_t limit, Diagrams& diagrams);

} // namespace strata::array
