// Mapping files that list nodes: the leaves of graphs, or a program that is one node, with where each runs and how many
// of its instances or iterations at a time. The YAML of files of machines.
//
//   machine: cell                # what it is for; may be left out
//   nodes:
//     - node: multiply           # a leaf's function
//       processor: spe           # of the machine; the one that runs the graph: where the arrays lie
//       block: [32, 32]          # instances along x, y, … that are there at a time at most; else as many as fit
#pragma once

#include "base/machine/machine.h"
#include "base/source/diagnostic.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::notation {

struct MappedNode {
  std::string node;
  std::string processor; // empty: as without a mapping
  std::vector<int64_t> block;
  Location place, processorPlace, blockPlace;
};

struct NodeMapping {
  std::string machine; // empty: not said
  Location machinePlace;
  std::vector<MappedNode> nodes; // each node once

  /// Null where the file says nothing of a node.
  const MappedNode* of(const std::string& node) const;
};

/// As the text of a file.
std::string text(const NodeMapping& mapping);

/// Reads a file. Nothing where it is no mapping (reported).
std::optional<NodeMapping> readNodeMapping(DiagnosticEngine& diagnostics, BufferId text);

} // namespace strata::notation
