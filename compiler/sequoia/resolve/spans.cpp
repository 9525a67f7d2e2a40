// Follows calls from the entry with the class of processors that executes and how many of it each has.
#include "compiler/sequoia/resolve/spans.h"

#include "base/machine/instance_range.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace strata::sequoia {

namespace {

struct Context {
  uint32_t on = UINT32_MAX; // nobody yet: all of every class
  int64_t width = 0;
  bool isDealt = false; // several run at once
  friend auto operator<=>(const Context&, const Context&) = default;
};

class Spans {
public:
  Spans(const InstanceGraph& graph, const Machine& machine) : graph_(graph), machine_(machine) {
    for (const Instance& instance : graph.instances)
      result_.emplace_back(instance.loops.size(), INT64_MAX);
    for (uint32_t entry = 0; entry < graph.entryCount; ++entry)
      enter(entry, {});
    while (!open_.empty()) {
      auto [index, context] = open_.back();
      open_.pop_back();
      visit(index, context);
    }
  }
  std::vector<std::vector<int64_t>> take() { return std::move(result_); }

private:
  void enter(uint32_t index, Context context) {
    if (seen_.insert({index, context}).second)
      open_.emplace_back(index, context);
  }

  /// The context after a change to the processors of a level.
  Context at(unsigned level, Context context) const {
    machine::ProcessorId processor = machine_.controllerOf(level);
    if (!processor.valid())
      return context;
    const auto wanted = static_cast<int64_t>(machine_[processor].count);
    if (context.on == processor.value)
      return context;
    if (context.on == UINT32_MAX || !context.isDealt) {
      context.width = wanted;
    } else {
      const auto own = static_cast<int64_t>(machine_.processors[context.on].count);
      const auto others = machine::InstanceRange::all(context.width).inClass(own, wanted);
      context.width = others ? others->width() : INT64_MAX;
    }
    context.on = processor.value;
    return context;
  }

  void visit(uint32_t index, const Context& context) {
    const Instance& instance = graph_.instances[index];
    for (const ResolvedCallsite& site : instance.callsites) {
      std::vector<const Loop*> loops;
      for (const Loop* loop = site.callsite->loop; loop; loop = loop->parent)
        loops.insert(loops.begin(), loop);
      Context inside = context;
      std::map<unsigned, int64_t> around; // parts of the loops around, by level
      for (const Loop* loop : loops) {
        const ResolvedLoop& mapped = instance.loops[loop->index];
        inside = at(mapped.level, inside);
        if (mapped.spmd && mapped.spmd->isRange && machine_.isExplicit(machine_.levels[mapped.level].memory))
          inside.width = std::min(inside.width, mapped.spmd->last - mapped.spmd->first);
        int64_t width = std::max<int64_t>(inside.width, 1);
        // Where memory is shared, parts are no processors: there are as many as the mapping says on any computer.
        int64_t& outer = around.try_emplace(mapped.level, 1).first->second;
        if (mapped.spmd && !machine_.isExplicit(machine_.levels[mapped.level].memory))
          width = machine::InstanceRange::all(mapped.spmd->last - mapped.spmd->first).partWidth(outer);
        int64_t& span = result_[index][loop->index];
        span = std::min(span, width);
        if (const int64_t ways = waysOf(mapped, width); ways > 1) {
          inside.width = machine::InstanceRange::all(inside.width).partWidth(ways);
          inside.isDealt = true;
          outer *= ways;
        }
      }
      for (const ResolvedTarget& target : site.targets)
        enter(target.instance, at(graph_.instances[target.instance].controlLevel, inside));
    }
  }

  const InstanceGraph& graph_;
  const Machine& machine_;
  std::vector<std::vector<int64_t>> result_;
  std::set<std::pair<uint32_t, Context>> seen_;
  std::vector<std::pair<uint32_t, Context>> open_;
};

} // namespace

int64_t waysOf(const ResolvedLoop& loop, int64_t span) {
  if (!loop.spmd)
    return 0;
  if (loop.spmd->ways > 0)
    return loop.spmd->ways;
  return std::max<int64_t>(std::min(loop.spmd->last - loop.spmd->first, span), 1);
}

std::vector<std::vector<int64_t>> processorSpans(const InstanceGraph& graph, const Machine& machine) {
  return Spans(graph, machine).take();
}

} // namespace strata::sequoia
