// Parts of a graph of instances, for searches that change one instance at a time. Not thread safe.
#pragma once

#include "compiler/sequoia/resolve/resolve.h"

#include <map>
#include <set>

namespace strata::sequoia {

/// Parts of a graph: an instance, all that it calls, and every way from the entry to any of these. What a tunable of
/// the instance changes lies in its part alone, so that a search need not look at the whole program again at every
/// step. The graph outlives this and keeps its calls.
class GraphParts {
public:
  explicit GraphParts(InstanceGraph& graph);

  /// The part of an instance, with the tunables as they are in the graph now. Valid as long as this is.
  const InstanceGraph& of(uint32_t instance);

private:
  struct Part {
    InstanceGraph graph;
    std::vector<uint32_t> members; // in the whole graph, by their number in the part
  };
  void addBelow(uint32_t instance, std::set<uint32_t>& members) const;
  std::set<uint32_t> membersOf(uint32_t instance) const;
  void make(Part& part, uint32_t instance);

  InstanceGraph& graph_;
  std::vector<std::set<uint32_t>> callers_; // of each instance
  std::map<uint32_t, Part> parts_;
};

} // namespace strata::sequoia
