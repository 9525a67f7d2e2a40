// Conditions on how often an instance has been selected: which instances are counted, who selects them, and that the
// selections have an order, which the iterations of a parallel loop have not.
#include "compiler/sequoia/resolve_loop.h"

namespace strata::sequoia {

STRATA_DIAGNOSTIC(parallelCount, Error, "sequoia-mapping-parallel-count",
                  "selections of instance '{0}' cannot be counted: '{1}' selects it, and is called in iterations that "
                  "have no order");

namespace {

bool selects(const Instance& instance, const InstanceGraph& graph) {
  for (const ResolvedCallsite& site : instance.callsites)
    for (const ResolvedTarget& target : site.targets)
      if (graph.isCounted(target.instance) || graph.instances[target.instance].countsSelections)
        return true;
  return false;
}

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
  // Whoever calls one that selects has to hand the counts on.
  for (bool changed = true; std::exchange(changed, false);)
    for (Instance& instance : graph.instances)
      if (!instance.countsSelections && selects(instance, graph))
        changed = instance.countsSelections = true;
  uint32_t counted = graph.counted.front();
  for (const Instance& instance : graph.instances)
    for (const ResolvedCallsite& site : instance.callsites) {
      const Loop* parallel = parallelAround(*site.callsite);
      for (const ResolvedTarget& target : site.targets) {
        const Instance& callee = graph.instances[target.instance];
        if (callee.countsSelections && (parallel || site.callsite->isCombiner))
          diagnostics.report(parallelCount, asked[counted]->place.location, graph.instances[counted].name, callee.name)
              .label(parallel ? parallel->location : site.callsite->location,
                     parallel ? "these iterations run in any order" : "combinations run in any order")
              .label(site.callsite->location, "the call")
              .note("a condition on instantiations counts selections in the order in which the program runs")
              .help("use conditions on the sizes of arrays, or make the loop a mapseq");
      }
    }
}

} // namespace strata::sequoia
