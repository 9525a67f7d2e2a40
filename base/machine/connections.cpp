// Networks of links as disjoint sets; see connections.h. Links that name each other as ends belong to one network, and
// a processor reaches what stands at a network that it stands at.
#include "base/machine/connections.h"

#include <algorithm>
#include <numeric>

namespace strata::machine {

Connections::Connections(const Machine& machine) : machine_(machine) {
  std::vector<uint32_t> parent(machine.links.size());
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root = [&](uint32_t link) {
    while (parent[link] != link)
      link = parent[link] = parent[parent[link]];
    return link;
  };
  for (uint32_t i = 0; i < parent.size(); ++i)
    for (const LinkEnd& end : machine.links[i].ends)
      if (const LinkId* other = std::get_if<LinkId>(&end); other && other->value < parent.size())
        parent[root(i)] = root(other->value);
  for (uint32_t i = 0; i < parent.size(); ++i)
    for (const LinkEnd& end : machine.links[i].ends)
      networks_[end].push_back(root(i));
  for (auto& [end, networks] : networks_) {
    std::sort(networks.begin(), networks.end());
    networks.erase(std::unique(networks.begin(), networks.end()), networks.end());
  }
}

bool Connections::linked(const LinkEnd& a, const LinkEnd& b) const {
  const auto first = networks_.find(a), second = networks_.find(b);
  if (first == networks_.end() || second == networks_.end())
    return false;
  return std::any_of(first->second.begin(), first->second.end(), [&](uint32_t network) {
    return std::binary_search(second->second.begin(), second->second.end(), network);
  });
}

bool Connections::reaches(ProcessorId processor, MemoryId memory) const {
  // A virtual memory is reached through what it joins. The bound ends the walk in a machine that validate refuses.
  for (size_t step = 0; step <= machine_.memories.size() && memory.value < machine_.memories.size(); ++step) {
    const std::vector<MemoryId>& local = machine_[processor].local;
    if (std::find(local.begin(), local.end(), memory) != local.end() || linked(processor, memory))
      return true;
    memory = machine_[memory].over;
  }
  return false;
}

namespace {

bool names(const std::vector<ProcessorId>& list, ProcessorId processor) {
  return std::find(list.begin(), list.end(), processor) != list.end();
}

} // namespace

bool Connections::reaches(ProcessorId processor, FifoId fifo) const {
  return writes(processor, fifo) || reads(processor, fifo);
}

bool Connections::writes(ProcessorId processor, FifoId fifo) const {
  const Fifo& buffer = machine_[fifo];
  return names(buffer.writers, processor) || (!names(buffer.readers, processor) && linked(processor, fifo));
}

bool Connections::reads(ProcessorId processor, FifoId fifo) const {
  const Fifo& buffer = machine_[fifo];
  return names(buffer.readers, processor) || (!names(buffer.writers, processor) && linked(processor, fifo));
}

} // namespace strata::machine
