// See the header.
#include "compiler/sequoia/tune/redistribute.h"

#include "compiler/sequoia/tune/tune.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace strata::sequoia {

namespace {

constexpr int64_t sharedColumns = 256; // of a block, where its columns are what is distributed

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
  /// `ends` of the loops, and `possible` where they are distributed; `machine`: whose processors are to have a part
  /// each; null: there are partsWanted.
  Nests(const Instance& instance, const std::vector<Bound>& ends, const std::vector<Bound>& possible,
        const Machine* machine, MappedInstance& mapped)
      : instance_(instance), ends_(ends), possible_(possible), machine_(machine), mapped_(mapped) {}

  bool redistribute() {
    bool changed = false;
    for (const ResolvedLoop& outer : instance_.loops) {
      const auto iterations = iterationsOf(outer, ends_);
      if (!outer.spmd || outer.loop->kind != MapKind::Par || !iterations)
        continue;
      const int64_t wanted = outer.spmd->ways > 0 ? outer.spmd->ways
                             : machine_           ? processorsAt(*machine_, outer.level)
                                                  : partsWanted;
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
  static std::optional<int64_t> iterationsOf(const ResolvedLoop& loop, const std::vector<Bound>& ends) {
    const size_t index = loop.loop->index;
    return index < ends.size() ? ends[index].value : std::nullopt;
  }

  const ResolvedLoop* bestInside(const ResolvedLoop& outer, int64_t iterations, int64_t wanted) const {
    const ResolvedLoop* best = nullptr;
    int64_t most = iterations;
    for (const ResolvedLoop& inner : instance_.loops) {
      const auto count = iterationsOf(inner, possible_);
      if (!count || *count <= most || most >= wanted || inner.spmd || inner.level != outer.level ||
          inner.loop->kind != MapKind::Par || !isAround(outer.loop, inner.loop))
        continue;
      best = &inner;
      most = *count;
    }
    return best;
  }

  const Instance& instance_;
  const std::vector<Bound>&ends_, &possible_;
  const Machine* machine_;
  MappedInstance& mapped_;
};

} // namespace

bool redistribute(const InstanceGraph& graph, const Machine& machine, const KnownSizes& known, Mapping& mapping) {
  const std::vector<InstanceSizes> sizes = propagateSizes(graph, known);
  std::vector<InstanceSizes> possible = sizes;
  bool isLimitedAnywhere = false;
  for (unsigned level = 0; level < machine.levels.size(); ++level)
    isLimitedAnywhere |= isLimited(machine, level);
  if (!isLimitedAnywhere) {
    InstanceGraph cut = graph;
    for (Instance& instance : cut.instances)
      for (int64_t& tunable : instance.tunables)
        tunable = std::min(tunable, sharedColumns);
    possible = propagateSizes(cut, known);
  }
  bool changed = false;
  for (MappedTask& task : mapping.tasks)
    for (MappedInstance& mapped : task.instances)
      for (size_t i = 0; i < graph.instances.size(); ++i)
        if (graph.instances[i].name == mapped.name.text && sizes[i].reached)
          changed |=
              Nests(graph.instances[i], sizes[i].ends, possible[i].ends, isLimitedAnywhere ? nullptr : &machine, mapped)
                  .redistribute();
  return changed;
}

} // namespace strata::sequoia
