// Networks of links as disjoint sets; see connections.h. Links that name each other as ends belong to one network, and
// a processor reaches what stands at a network that it stands at.
#include "base/machine/connections.h"

#include <algorithm>
#include <numeric>
#include <set>

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

std::vector<LinkId> Connections::route(MemoryId from, MemoryId to) const {
  const auto physical = [&](MemoryId memory) {
    for (size_t step = 0; step <= machine_.memories.size() && memory.value < machine_.memories.size(); ++step) {
      if (!machine_[memory].isVirtual())
        return memory;
      memory = machine_[memory].over;
    }
    return MemoryId();
  };
  from = physical(from), to = physical(to);
  if (!from.valid() || !to.valid())
    return {};
  // Dijkstra's algorithm over ends: entering a link costs 1, entering a processor more than all links together.
  const uint64_t throughProcessor = machine_.links.size() + 1;
  struct Step {
    uint64_t cost = ~uint64_t(0);
    LinkEnd before;
  };
  std::map<LinkEnd, Step> reached;
  std::set<std::pair<uint64_t, LinkEnd>> open{{0, from}};
  reached[from] = {0, from};
  while (!open.empty()) {
    const auto [cost, end] = *open.begin();
    open.erase(open.begin());
    if (end == LinkEnd(to))
      break;
    for (const LinkEnd& next : neighbours(end)) {
      const uint64_t all = cost + (std::holds_alternative<LinkId>(next)        ? 1
                                   : std::holds_alternative<ProcessorId>(next) ? throughProcessor
                                                                               : 0);
      Step& step = reached[next];
      if (all >= step.cost)
        continue;
      open.erase({step.cost, next});
      step = {all, end};
      open.insert({all, next});
    }
  }
  std::vector<LinkId> links;
  if (!reached.contains(to))
    return links;
  for (LinkEnd at = to; at != LinkEnd(from); at = reached[at].before)
    if (const LinkId* link = std::get_if<LinkId>(&at))
      links.push_back(*link);
  std::reverse(links.begin(), links.end());
  return links;
}

std::vector<LinkEnd> Connections::neighbours(const LinkEnd& end) const {
  std::vector<LinkEnd> next;
  for (uint32_t number = 0; number < machine_.links.size(); ++number) {
    const Link& link = machine_.links[number];
    const bool isThis = end == LinkEnd(LinkId{number});
    for (size_t place = 0; place < link.ends.size(); ++place) {
      const bool isFirst = place == 0;
      if (isThis && !(link.oneWay && isFirst))
        next.push_back(link.ends[place]); // data leave it here …
      else if (!isThis && link.ends[place] == end && (!link.oneWay || isFirst))
        next.push_back(LinkId{number}); // … and enter it there
    }
  }
  for (uint32_t number = 0; number < machine_.processors.size(); ++number) {
    const LinkEnd processor = ProcessorId{number};
    for (const MemoryId memory : machine_.processors[number].local) {
      if (end == processor)
        next.push_back(memory);
      else if (end == LinkEnd(memory))
        next.push_back(processor);
    }
  }
  return next;
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
