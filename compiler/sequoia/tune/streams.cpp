// See the header.
#include "compiler/sequoia/tune/streams.h"

#include "compiler/sequoia/check/block.h"

namespace strata::sequoia {

bool cutsAlike(const TaskVariant& variant) {
  std::vector<uint32_t> order; // of tunables, by index
  for (const Callsite* site : variant.callsites)
    for (const Argument& argument : site->statement->arguments) {
      const auto& ranges = argument.value->ranges;
      if (ranges.empty())
        continue; // the same for all blocks
      std::vector<uint32_t> of;
      for (const BlockRange& range : ranges)
        for (const Variable* tunable : variant.tunables)
          if (mentions(range.end, tunable) || mentions(range.max, tunable))
            of.push_back(tunable->index);
      if (of.size() < 2 || of.size() != ranges.size() || (!order.empty() && of != order))
        return false;
      order = of;
    }
  return !order.empty();
}

std::set<std::string> streamedLeaves(const InstanceGraph& graph) {
  std::set<std::string> streamed, others;
  for (const Instance& instance : graph.instances) {
    std::set<std::string>& callees = cutsAlike(*instance.variant) ? streamed : others;
    for (const ResolvedCallsite& site : instance.callsites)
      for (const ResolvedTarget& target : site.targets)
        callees.insert(graph.instances[target.instance].name);
  }
  for (const std::string& name : others)
    streamed.erase(name);
  return streamed;
}

} // namespace strata::sequoia
