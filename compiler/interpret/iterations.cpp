// Implements the tree of iterations and operands. Nodes are added below their parents, so that parents come first.
#include "compiler/interpret/iterations.h"

#include <algorithm>

namespace strata::interpret {

/// So many nodes and accesses (some 32 MB) before unused ones are looked for.
static constexpr size_t FirstLimit = size_t(1) << 20;

void Iterations::reset() {
  nodes_.assign(1, Node());
  accesses_.assign(1, Access());
  groups_ = 0;
  limit_ = FirstLimit;
}

uint32_t Iterations::add(uint32_t parent, uint32_t group, Kind kind, uint32_t name, int64_t value, uint32_t frame) {
  nodes_.push_back({parent, group, nodes_[parent].depth + 1, kind, name, value, frame});
  return static_cast<uint32_t>(nodes_.size() - 1);
}

uint32_t Iterations::addAccess(uint32_t node, uint32_t pc) {
  // Elements of one array follow each other.
  if (const Access& last = accesses_.back(); accesses_.size() > 1 && last.node == node && last.pc == pc)
    return static_cast<uint32_t>(accesses_.size() - 1);
  accesses_.push_back({node, pc});
  return static_cast<uint32_t>(accesses_.size() - 1);
}

std::pair<uint32_t, uint32_t> Iterations::parting(uint32_t a, uint32_t b) const {
  while (nodes_[a].depth > nodes_[b].depth)
    a = nodes_[a].parent;
  while (nodes_[b].depth > nodes_[a].depth)
    b = nodes_[b].parent;
  if (a == b) // one is within the other
    return {0, 0};
  while (nodes_[a].parent != nodes_[b].parent) {
    a = nodes_[a].parent;
    b = nodes_[b].parent;
  }
  const bool parallel = nodes_[a].group == nodes_[b].group && nodes_[a].kind != Kind::Sequential;
  return parallel ? std::pair(a, b) : std::pair(0u, 0u);
}

void Iterations::collect(const std::function<void(const Visitor&)>& eachAccess,
                         const std::function<void(const Visitor&)>& eachNode) {
  std::vector<uint32_t> newNode(nodes_.size()), newAccess(accesses_.size());
  eachAccess([&](uint32_t& number) { newAccess[number] = 1; });
  eachNode([&](uint32_t& number) { newNode[number] = 1; });
  newNode[0] = newAccess[0] = 0;
  uint32_t accesses = 1, nodes = 1;
  for (uint32_t number = 1; number < accesses_.size(); ++number)
    if (newAccess[number]) {
      newNode[accesses_[number].node] = 1;
      newAccess[number] = accesses;
      accesses_[accesses++] = accesses_[number];
    }
  accesses_.resize(accesses);
  for (auto number = static_cast<uint32_t>(nodes_.size()); number-- > 1;) // children before their parents
    if (newNode[number])
      newNode[nodes_[number].parent] = 1;
  newNode[0] = 0;
  for (uint32_t number = 1; number < nodes_.size(); ++number)
    if (newNode[number]) {
      newNode[number] = nodes;
      nodes_[nodes] = nodes_[number];
      nodes_[nodes].parent = newNode[nodes_[nodes].parent];
      ++nodes;
    }
  nodes_.resize(nodes);
  for (Access& access : accesses_)
    access.node = newNode[access.node];
  eachAccess([&](uint32_t& number) { number = newAccess[number]; });
  eachNode([&](uint32_t& number) { number = newNode[number]; });
  limit_ = std::max(FirstLimit, 2 * (nodes_.size() + accesses_.size()));
}

} // namespace strata::interpret
