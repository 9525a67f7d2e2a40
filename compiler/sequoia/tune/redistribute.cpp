// See the header.
#include "compiler/sequoia/tune/redistribute.h"

#include "compiler/sequoia/tune/tune.h"

#include <optional>
#include <utility>

namespace strata::sequoia {

namespace {

bool isAround(const Loop* outer, const Loop* inner) {
  for (const Loop* loop = inner->parent; loop; loop = loop->parent)
    if (loop == outer)
      return true;
  return false;
}

/// The mapped loop of one of a variant's; null where the mapping does not speak of it.
MappedLoop* find(MappedInstance& instance, const Loop& loop) {
  for (ControlMapping& control : instance.control)
    for (MappedLoop& mapped : control.loops)
      if (mapped.name.text == loop.variableName && mapped.name.lexnum.value_or(0) == loop.lexnum)
        return &mapped;
  return nullptr;
}

class Nests {
public:
  Nests(const Instance& instance, const std::vector<Bound>& ends, MappedInstance& mapped)
      : instance_(instance), ends_(ends), mapped_(mapped) {}

  bool redistribute() {
    bool changed = false;
    for (const ResolvedLoop& outer : instance_.loops) {
      const auto iterations = iterationsOf(outer);
      if (!outer.spmd || outer.loop->kind != MapKind::Par || !iterations)
        continue;
      const int64_t wanted = outer.spmd->ways < 1 ? partsWanted : outer.spmd->ways;
      const ResolvedLoop* best = *iterations < wanted ? bestInside(outer, *iterations, wanted) : nullptr;
      MappedLoop* from = best ? find(mapped_, *outer.loop) : nullptr;
      MappedLoop* to = best ? find(mapped_, *best->loop) : nullptr;
      if (!from || !to || !from->spmd)
        continue;
      to->spmd = std::exchange(from->spmd, std::nullopt);
      changed = true;
    }
    return changed;
  }

private:
  std::optional<int64_t> iterationsOf(const ResolvedLoop& loop) const {
    const size_t index = loop.loop->index;
    return index < ends_.size() ? ends_[index].value : std::nullopt;
  }

  const ResolvedLoop* bestInside(const ResolvedLoop& outer, int64_t iterations, int64_t wanted) const {
    const ResolvedLoop* best = nullptr;
    int64_t most = iterations;
    for (const ResolvedLoop& inner : instance_.loops) {
      const auto count = iterationsOf(inner);
      if (!count || *count <= most || most >= wanted || inner.spmd || inner.level != outer.level ||
          inner.loop->kind != MapKind::Par || !isAround(outer.loop, inner.loop))
        continue;
      best = &inner;
      most = *count;
    }
    return best;
  }

  const Instance& instance_;
  const std::vector<Bound>& ends_;
  MappedInstance& mapped_;
};

} // namespace

bool redistribute(const InstanceGraph& graph, const KnownSizes& known, Mapping& mapping) {
  const std::vector<InstanceSizes> sizes = propagateSizes(graph, known);
  bool changed = false;
  for (MappedTask& task : mapping.tasks)
    for (MappedInstance& mapped : task.instances)
      for (size_t i = 0; i < graph.instances.size(); ++i)
        if (graph.instances[i].name == mapped.name.text && sizes[i].reached)
          changed |= Nests(graph.instances[i], sizes[i].ends, mapped).redistribute();
  return changed;
}

} // namespace strata::sequoia
