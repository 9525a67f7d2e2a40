// A part is a graph by itself, with its instances numbered anew, so that whatever measures a whole graph measures a
// part as well.
#include "compiler/sequoia/resolve/graph_parts.h"

#include <utility>

namespace strata::sequoia {

GraphParts::GraphParts(InstanceGraph& graph) : graph_(graph), callers_(graph.instances.size()) {
  for (uint32_t caller = 0; caller < graph.instances.size(); ++caller)
    for (const ResolvedCallsite& site : graph.instances[caller].callsites)
      for (const ResolvedTarget& target : site.targets)
        callers_[target.instance].insert(caller);
}

const InstanceGraph& GraphParts::of(uint32_t instance) {
  auto [at, isNew] = parts_.try_emplace(instance);
  Part& part = at->second;
  if (isNew)
    make(part, instance);
  for (size_t i = 0; i < part.members.size(); ++i)
    part.graph.instances[i].tunables = graph_.instances[part.members[i]].tunables;
  return part.graph;
}

void GraphParts::addBelow(uint32_t instance, std::set<uint32_t>& members) const {
  std::vector<uint32_t> open{instance};
  while (!open.empty()) {
    const uint32_t next = open.back();
    open.pop_back();
    if (!members.insert(next).second)
      continue;
    for (const ResolvedCallsite& site : graph_.instances[next].callsites)
      for (const ResolvedTarget& target : site.targets)
        open.push_back(target.instance);
  }
}

/// Callers of members are members, with those of their calls that have a member for a target. The other targets of such
/// a call come along with all that they call: which of them is called depends on the conditions of all.
std::set<uint32_t> GraphParts::membersOf(uint32_t instance) const {
  std::set<uint32_t> members;
  addBelow(instance, members);
  std::vector<uint32_t> open(members.begin(), members.end());
  auto add = [&](uint32_t each) {
    if (members.insert(each).second)
      open.push_back(each);
  };
  while (!open.empty()) {
    const uint32_t callee = open.back();
    open.pop_back();
    for (uint32_t caller : callers_[callee]) {
      add(caller);
      for (const ResolvedCallsite& site : graph_.instances[caller].callsites) {
        auto isCallee = [&](const ResolvedTarget& target) { return target.instance == callee; };
        if (site.targets.size() < 2 || std::none_of(site.targets.begin(), site.targets.end(), isCallee))
          continue;
        std::set<uint32_t> below;
        for (const ResolvedTarget& target : site.targets)
          addBelow(target.instance, below);
        std::for_each(below.begin(), below.end(), add);
      }
    }
  }
  return members;
}

void GraphParts::make(Part& part, uint32_t instance) {
  const std::set<uint32_t> members = membersOf(instance);
  part.members.assign(members.begin(), members.end());
  std::map<uint32_t, uint32_t> numbers;
  for (uint32_t number = 0; number < part.members.size(); ++number)
    numbers[part.members[number]] = number;
  part.graph.entryCount = 0;
  for (uint32_t member : part.members)
    part.graph.entryCount += graph_.isEntry(member);
  part.graph.instances.reserve(part.members.size());
  for (uint32_t member : part.members) {
    Instance& original = graph_.instances[member];
    // A caller of everything has calls without number, and few of them are in this part.
    std::vector<ResolvedCallsite> callsites = std::exchange(original.callsites, {});
    Instance& copy = part.graph.instances.emplace_back(original);
    original.callsites = std::move(callsites);
    for (const ResolvedCallsite& site : original.callsites) {
      if (site.targets.empty() || !numbers.contains(site.targets[0].instance))
        continue;
      ResolvedCallsite& kept = copy.callsites.emplace_back(site);
      for (ResolvedTarget& target : kept.targets)
        target.instance = numbers.at(target.instance);
    }
  }
}

} // namespace strata::sequoia
