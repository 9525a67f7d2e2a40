// Conditions on how often an instance has been selected: which instances are counted, who selects them, and that the
// selections have an order, which the iterations of a parallel loop have not.
#include "compiler/sequoia/resolve/resolve_loop.h"

#include <set>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(parallelCount, Error, "sequoia-mapping-parallel-count",
                  "selections of {0} cannot be counted: '{1}' selects, and is called in iterations that have no order");

namespace {

/// The loop, if any, whose iterations call without an order.
const Loop* parallelAround(const Callsite& site) {
  for (const Loop* loop = site.loop; loop; loop = loop->parent)
    if (loop->kind != MapKind::Seq)
      return loop;
  return nullptr;
}

} // namespace

void findCounts(InstanceGraph& graph, DiagnosticEngine& diagnostics) {
  std::vector<const SizeBound*> asked(graph.instances.size());
  for (const Instance& instance : graph.instances)
    for (const ResolvedCallsite& site : instance.callsites)
      for (const ResolvedTarget& target : site.targets)
        for (const ResolvedCondition& condition : target.conditions)
          if (!condition.array && !asked[target.instance])
            asked[target.instance] = &condition.bound;
  for (uint32_t i = 0; i < asked.size(); ++i)
    if (asked[i])
      graph.counted.push_back(i);
  if (graph.counted.empty())
    return;
  // Which of them an instance selects, itself or in what it calls: whoever calls one that selects hands the counts on.
  std::vector<std::set<uint32_t>> selected(graph.instances.size());
  for (bool changed = true; std::exchange(changed, false);)
    for (uint32_t i = 0; i < graph.instances.size(); ++i) {
      const size_t before = selected[i].size();
      for (const ResolvedCallsite& site : graph.instances[i].callsites)
        for (const ResolvedTarget& target : site.targets) {
          if (graph.isCounted(target.instance))
            selected[i].insert(target.instance);
          const std::set<uint32_t> within = selected[target.instance];
          selected[i].insert(within.begin(), within.end());
        }
      changed |= selected[i].size() != before;
      graph.instances[i].countsSelections = !selected[i].empty();
    }
  for (const Instance& instance : graph.instances)
    for (const ResolvedCallsite& site : instance.callsites) {
      const Loop* parallel = parallelAround(*site.callsite);
      for (const ResolvedTarget& target : site.targets) {
        const Instance& callee = graph.instances[target.instance];
        if (!callee.countsSelections || (!parallel && !site.callsite->isCombiner))
          continue;
        const std::set<uint32_t>& counted = selected[target.instance];
        std::string names;
        for (uint32_t each : counted)
          names += (names.empty() ? "'" : "', '") + graph.instances[each].name;
        auto report =
            diagnostics.report(parallelCount, asked[*counted.begin()]->place.location, names + "'", callee.name);
        for (uint32_t each : counted)
          if (each != *counted.begin())
            report.label(asked[each]->place.location, "counts selections of '" + graph.instances[each].name + "'");
        report
            .label(parallel ? parallel->location : site.callsite->location,
                   parallel ? "these iterations run in any order" : "combinations run in any order")
            .label(site.callsite->location, "the call")
            .note("a condition on instantiations counts selections in the order in which the program runs")
            .help("use conditions on the sizes of arrays, or make the loop a mapseq");
      }
    }
}

} // namespace strata::sequoia
