// The nodes of a machine as stream programs name them: one int for every instance of a memory, a FIFO or a processor,
// and the C header that gives each its name. Virtual memories, disks and processor arrays are no nodes. Any thread.
#pragma once

#include "base/machine/machine.h"

namespace strata::machine {

/// One instance of a memory, FIFO or processor.
struct Node {
  enum class Kind : uint32_t { Memory = 1, Fifo = 2, Processor = 3 };
  Kind kind = Kind::Memory;
  uint32_t index = 0;    // into the machine's list of its kind
  uint32_t instance = 0; // counts from 0
  friend auto operator<=>(const Node&, const Node&) = default;
};

/// The kind in bits 28 and 29, the index in 8 bits below, the instance in the 20 below that.
int nodeValue(const Node& node);
/// Nothing when the machine has no such node.
std::optional<Node> nodeOf(const Machine& machine, int value);
/// The name in capitals, with '_' for what C allows in no name; several instances are numbered from 1.
std::string nodeName(const Machine& machine, const Node& node);
/// The header that names the nodes and carries the description, so that a program finds its machine wherever it runs.
/// Reports when two nodes would have one name, or when there are more than the values have room for.
std::optional<std::string> writeNodeHeader(const Machine& machine, DiagnosticEngine& diagnostics);

} // namespace strata::machine
