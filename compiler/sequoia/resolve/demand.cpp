// What the arrays of a program take of each level's memory: the chain of calls that holds most, with the copies that
// carrying out the mapping makes beside the arrays themselves: private copies of reductions and their parts, buffers of
// pipelined loops, shares of arrays in a virtual memory.
#include "base/machine/addressing.h"
#include "base/machine/instance_range.h"
#include "compiler/sequoia/check/fold.h"
#include "compiler/sequoia/resolve/sizes.h"

#include <algorithm>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(doesNotFit, Error, "sequoia-does-not-fit",
                  "memory '{0}' holds {1} bytes, and this mapping puts up to {2} bytes into it at once");
STRATA_DIAGNOSTIC(notBounded, Error, "sequoia-not-bounded",
                  "array '{0}' of instance '{1}' goes to memory '{2}' of {3} bytes, but its size is not bounded before "
                  "the program runs");

namespace {

uint64_t aligned(uint64_t bytes, uint64_t alignment) {
  return alignment <= 1 ? bytes : (bytes + alignment - 1) / alignment * alignment;
}

std::string demandText(const InstanceGraph& graph, const std::vector<InstanceSizes>& sizes, const Demand& demand) {
  const Instance& instance = graph.instances[demand.instance];
  std::string text = "array '" + std::string(demand.array->name) + "' of instance '" + instance.name + "'";
  std::string extents;
  for (const Bound& bound : sizes[demand.instance].extents[demand.array->index])
    extents += (extents.empty() ? "" : " x ") + (bound.value ? std::to_string(*bound.value) : std::string("?"));
  text += " wants " +
          (demand.bytes ? std::to_string(*demand.bytes) + " bytes" : std::string("an unbounded number of bytes"));
  return text + " (" + extents + " elements of " + std::to_string(demand.array->type->size) + " bytes" + demand.why +
         ")";
}

class Measurement {
public:
  Measurement(const InstanceGraph& graph, const Machine& machine, const std::vector<InstanceSizes>& sizes)
      : graph_(graph), machine_(machine), sizes_(sizes) {
    for (unsigned level = 0; level < machine.levels.size(); ++level) {
      level_ = level;
      chain_.clear();
      result_.push_back({level, {}, 0, {}});
      best_ = 0;
      bestUnbounded_ = false;
      path_.clear();
      steps_ = 0;
      for (uint32_t entry = 0; entry < graph.entryCount; ++entry)
        descend(entry, {}, 1);
    }
  }
  std::vector<LevelDemand> take() { return std::move(result_); }

private:
  /// Whether what lies at a level takes of the memory of the level that is measured: of itself, or, for a virtual
  /// level, of the memory underneath.
  bool counts(unsigned level) const {
    if (level == level_)
      return true;
    machine::MemoryId id = machine_.levels[level].memory;
    for (size_t step = 0; step < machine_.memories.size() && machine_[id].isVirtual(); ++step) {
      id = machine_[id].over;
      if (id == machine_.levels[level_].memory)
        return true;
    }
    return false;
  }

  /// An array that lies at `level`, `copies` times.
  Demand demandOf(uint32_t index, const Variable* array, unsigned level, uint64_t copies, std::string why) const {
    const Instance& instance = graph_.instances[index];
    const machine::MemoryId where = machine_.levels[level].memory;
    const uint64_t alignment = machine_[machine_.levels[level_].memory].alignment;
    const bool isDealt = level != level_;
    Demand demand{index, array, uint64_t(array->type->size), {}, std::move(why)};
    const std::vector<Bound>& extents = sizes_[index].extents[array->index];
    for (size_t d = extents.size(); d-- > 0;) {
      std::optional<int64_t> extent = extents[d].value;
      if (extent && isDealt) {
        int64_t parts = d == 0 ? static_cast<int64_t>(machine::instancesEach(machine_[machine_[where].over].count,
                                                                             machine_[where].count))
                               : 1;
        int64_t block = 0;
        if (array->index < instance.blockCyclic.size() && instance.blockCyclic[array->index]) {
          const BlockCyclic& layout = *instance.blockCyclic[array->index];
          parts = d < layout.grid.size() ? layout.grid[d] : parts;
          block = d < layout.blockSize.size() ? layout.blockSize[d] : 0;
        }
        extent = machine::Shares::ofDimension(*extent, parts, block).room();
      }
      uint64_t product = 0;
      if (demand.bytes && extent && !__builtin_mul_overflow(*demand.bytes, static_cast<uint64_t>(*extent), &product))
        demand.bytes = d + 1 == extents.size() ? aligned(product, alignment) : product; // rows are padded
      else
        demand.bytes = std::nullopt;
      join(demand.because, extents[d].because);
    }
    uint64_t product = 0;
    if (demand.bytes && __builtin_mul_overflow(*demand.bytes, copies, &product))
      demand.bytes = std::nullopt;
    else if (demand.bytes)
      demand.bytes = product;
    if (isDealt)
      demand.why += ", distributed over the instances of '" + machine_[machine_.levels[level_].memory].name + "'";
    return demand;
  }

  /// `shared` says for each parameter whether its storage is the caller's; others are buffered `stages` times.
  void descend(uint32_t index, const std::vector<bool>& shared, uint64_t stages) {
    if (++steps_ > 100000 || std::find(path_.begin(), path_.end(), index) != path_.end())
      return;
    path_.push_back(index);
    const Instance& instance = graph_.instances[index];
    const size_t before = chain_.size();
    for (const Variable* array : instance.variant->arrays) {
      const unsigned level = instance.arrayLevels[array->index];
      if (!counts(level))
        continue;
      uint64_t copies = 1;
      if (array->kind == VariableKind::Parameter) {
        const auto& parameters = instance.variant->parameters;
        size_t p = static_cast<size_t>(std::find(parameters.begin(), parameters.end(), array) - parameters.begin());
        if (p < shared.size() && shared[p])
          continue;
        copies = stages;
      }
      if (sharesSpace(instance, array))
        continue;
      chain_.push_back(demandOf(index, array, level, copies,
                                copies > 1 ? ", " + std::to_string(copies) + " buffers of a pipelined loop" : ""));
    }
    record();
    for (const ResolvedCallsite& site : instance.callsites) {
      const size_t here = chain_.size();
      reductions(index, site);
      for (const ResolvedTarget& target : site.targets) {
        const size_t staged = chain_.size();
        stageIndices(instance, site, target.instance);
        descend(target.instance, sharedWith(instance, site, graph_.instances[target.instance]),
                stagesOf(instance, site));
        chain_.resize(staged);
      }
      chain_.resize(here);
    }
    chain_.resize(before);
    path_.pop_back();
  }

  /// Whether an array lies at the address of another that is counted.
  static bool sharesSpace(const Instance& instance, const Variable* array) {
    for (const ResolvedSpaceShare& set : instance.spaceShare)
      if (std::find(set.arrays.begin() + 1, set.arrays.end(), array) != set.arrays.end())
        return true;
    return false;
  }

  static uint64_t stagesOf(const Instance& instance, const ResolvedCallsite& site) {
    int64_t stages = 1;
    for (const Loop* loop = site.callsite->loop; loop; loop = loop->parent)
      stages = std::max(stages, instance.loops[loop->index].pipelineStages);
    return static_cast<uint64_t>(stages);
  }

  /// The private copies of a parallel reduction, where its loop runs, and the parts that are combined, where its target
  /// lies.
  void reductions(uint32_t index, const ResolvedCallsite& site) {
    const Instance& instance = graph_.instances[index];
    if (site.callsite->isCombiner)
      return;
    for (const Argument& argument : site.callsite->statement->arguments) {
      if (!argument.combiner || argument.value->kind != ExprKind::Block)
        continue;
      const Variable* array = argument.value->variable;
      for (const Loop* loop = site.callsite->loop; loop; loop = loop->parent) {
        const ResolvedLoop& mapped = instance.loops[loop->index];
        const int64_t ways = !mapped.spmd            ? 1
                             : mapped.spmd->ways > 0 ? mapped.spmd->ways
                                                     : mapped.spmd->last - mapped.spmd->first;
        if (loop->kind != MapKind::Reduce || ways <= 1)
          continue;
        if (mapped.level == level_)
          chain_.push_back(demandOf(index, array, level_, 1, ", the private copy of a reduction"));
        if (counts(instance.arrayLevels[array->index]))
          chain_.push_back(demandOf(index, array, instance.arrayLevels[array->index], static_cast<uint64_t>(ways),
                                    ", " + std::to_string(ways) + " parts of a reduction"));
      }
    }
  }

  /// Indices of blocks that are gathered from afar are copied to where control is.
  void stageIndices(const Instance& caller, const ResolvedCallsite& site, uint32_t target) {
    const auto& arguments = site.callsite->statement->arguments;
    if (site.level != level_ || site.callsite->isCombiner)
      return;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Expr& value = *arguments[i].value;
      if (value.kind != ExprKind::Block || !isGatheredFar(machine_, caller, site.level, value))
        continue;
      const Variable* parameter = graph_.instances[target].variant->parameters[i];
      const Bound& bound = sizes_[target].extents[parameter->index][0];
      auto elementSize = static_cast<uint64_t>(value.operands[0]->variable->type->size);
      Demand demand{target, parameter, std::nullopt, bound.because,
                    ", for indices of " + std::to_string(elementSize) + " bytes that it is gathered by"};
      uint64_t bytes = 0;
      if (bound.value && !__builtin_mul_overflow(static_cast<uint64_t>(*bound.value), elementSize, &bytes))
        demand.bytes = aligned(bytes, machine_[machine_.levels[level_].memory].alignment);
      chain_.push_back(std::move(demand));
    }
  }

  /// Stride-1 blocks within one memory are not copied, nor are private copies for the task that works on them. A
  /// combiner works on copies of its own.
  std::vector<bool> sharedWith(const Instance& caller, const ResolvedCallsite& site, const Instance& callee) const {
    std::vector<bool> shared;
    if (site.callsite->isCombiner)
      return shared;
    const auto& arguments = site.callsite->statement->arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Expr& value = *arguments[i].value;
      bool same = value.kind == ExprKind::Block && value.operands.empty();
      if (same) {
        unsigned given = caller.arrayLevels[value.variable->index];
        for (const Loop* loop = site.callsite->loop; loop && arguments[i].combiner; loop = loop->parent)
          if (loop->kind == MapKind::Reduce && caller.loops[loop->index].spmd) {
            given = caller.loops[loop->index].level;
            break;
          }
        same = given == callee.arrayLevels[callee.variant->parameters[i]->index];
      }
      for (const BlockRange& range : value.ranges)
        same &= !range.stride || constantOf(range.stride) == 1;
      shared.push_back(same);
    }
    return shared;
  }

  void record() {
    uint64_t total = 0;
    bool unbounded = false;
    for (const Demand& demand : chain_) {
      if (!demand.bytes || __builtin_add_overflow(total, *demand.bytes, &total))
        unbounded = true;
    }
    if (bestUnbounded_ || (!unbounded && total <= best_))
      return;
    best_ = total;
    bestUnbounded_ = unbounded;
    result_.back().demands = chain_;
    result_.back().total = unbounded ? std::nullopt : std::optional(total);
    result_.back().path = path_;
  }

  const InstanceGraph& graph_;
  const Machine& machine_;
  const std::vector<InstanceSizes>& sizes_;
  std::vector<LevelDemand> result_;
  std::vector<Demand> chain_;
  std::vector<uint32_t> path_;
  unsigned level_ = 0;
  uint64_t best_ = 0;
  bool bestUnbounded_ = false;
  int steps_ = 0;
};

/// The instances that lead to an array, with what could bound it in each.
void showCallers(DiagnosticBuilder& report, const InstanceGraph& graph, const LevelDemand& level, uint32_t last) {
  constexpr size_t mostAtAnEnd = 4; // of a long chain the first and the last are named
  const auto end = std::find(level.path.begin(), level.path.end(), last);
  const auto count = static_cast<size_t>(end - level.path.begin()) + (end == level.path.end() ? 0 : 1);
  std::string chain;
  bool skipped = false;
  for (size_t i = 0; i < count; ++i) {
    const Instance& instance = graph.instances[level.path[i]];
    if (count <= 2 * mostAtAnEnd || i < mostAtAnEnd || i >= count - mostAtAnEnd)
      chain += (chain.empty() ? "'" : skipped ? " calls '" : ", which calls '") + instance.name + "'";
    skipped = count > 2 * mostAtAnEnd && i >= mostAtAnEnd && i < count - mostAtAnEnd;
    if (skipped && i == mostAtAnEnd)
      chain += ", which by way of " + std::to_string(count - 2 * mostAtAnEnd) + " more";
    if (level.path[i] != last && instance.place.valid())
      report.label(instance.place, "a caller: a size precondition here would bound it");
  }
  report.note("it is reached by way of " + chain);
}

} // namespace

/// Whether an array parameter is given a part of another array that has an end and no max.
static bool isCutWithoutMax(const InstanceGraph& graph, const Demand& demand) {
  const auto& parameters = graph.instances[demand.instance].variant->parameters;
  const auto position =
      static_cast<size_t>(std::find(parameters.begin(), parameters.end(), demand.array) - parameters.begin());
  for (const Instance& caller : graph.instances)
    for (const ResolvedCallsite& site : caller.callsites)
      for (const ResolvedTarget& target : site.targets) {
        const auto& arguments = site.callsite->statement->arguments;
        if (target.instance != demand.instance || site.callsite->isCombiner || position >= arguments.size())
          continue;
        for (const BlockRange& range : arguments[position].value->ranges)
          if (range.end && !range.max &&
              !(constantOf(range.start) == 0 && !constantOf(range.end) && range.end->kind == ExprKind::Variable))
            return true;
      }
  return false;
}

bool isGatheredFar(const Machine& machine, const Instance& caller, unsigned level, const Expr& block) {
  if (block.operands.empty())
    return false;
  const machine::ProcessorId control = machine.controllerOf(level);
  const bool isManaged = machine.isExplicit(machine.levels[level].memory);
  for (const Variable* array : {block.variable, block.operands[0]->variable}) {
    const unsigned at = caller.arrayLevels[array->index];
    const machine::MemoryId memory = machine.levels[at].memory;
    if ((isManaged && at != level) ||
        !(machine::touches(machine, control, memory) || machine::controls(machine, control, memory)))
      return true;
  }
  return false;
}

std::vector<LevelDemand> measureDemand(const InstanceGraph& graph, const Machine& machine,
                                       const std::vector<InstanceSizes>& sizes) {
  return Measurement(graph, machine, sizes).take();
}

bool checkDemand(const InstanceGraph& graph, const Machine& machine, const std::vector<InstanceSizes>& sizes,
                 DiagnosticEngine& diagnostics) {
  bool fits = true;
  for (const LevelDemand& level : measureDemand(graph, machine, sizes)) {
    if (!isLimited(machine, level.level))
      continue;
    const machine::Memory& memory = machine[machine.levels[level.level].memory];
    uint64_t capacity = machine.capacityOf(machine.levels[level.level].memory).bytes;
    if (!level.total) {
      for (const Demand& demand : level.demands) {
        if (demand.bytes)
          continue;
        const Instance& instance = graph.instances[demand.instance];
        std::string name(demand.array->name);
        DiagnosticBuilder report =
            diagnostics.report(notBounded, demand.array->location, name, instance.name, memory.name, capacity);
        if (instance.place.valid())
          report.label(instance.place, "the instance");
        showCallers(report, graph, level, demand.instance);
        report.help(
            "give the range of the block that is passed a max of constants and tunables, or state a bound in the "
            "mapping: array NAME() { elements <= …; } in the instance or one that calls it");
      }
      fits = false;
    } else if (*level.total > capacity) {
      const Instance& last = graph.instances[level.demands.back().instance];
      const Demand* largest = &level.demands[0];
      for (const Demand& demand : level.demands)
        if (*demand.bytes > *largest->bytes && !demand.because.empty())
          largest = &demand;
      DiagnosticBuilder builder = diagnostics.report(
          doesNotFit, last.place.valid() ? last.place : last.variant->location, memory.name, capacity, *level.total);
      builder.label("this instance and its callers hold them");
      if (Location where = memory.origin.of("capacity"); where.valid())
        builder.label(where, "the memory");
      for (const Demand& demand : level.demands)
        builder.note(demandText(graph, sizes, demand));
      bool smaller = false;
      for (const TunableUse& use : largest->because) {
        // A tunable that cuts into pieces of one element has done what it can.
        if (graph.instances[use.instance].tunables[use.tunable->index] <= 1)
          continue;
        smaller = true;
        builder.help("make tunable '" + std::string(use.tunable->name) + "' of instance '" +
                     graph.instances[use.instance].name + "' smaller; it is " +
                     std::to_string(graph.instances[use.instance].tunables[use.tunable->index]));
      }
      const Demand& most = *std::max_element(level.demands.begin(), level.demands.end(),
                                             [](const Demand& a, const Demand& b) { return *a.bytes < *b.bytes; });
      if (!smaller && isCutWithoutMax(graph, most))
        builder.help("no tunable makes it smaller: the blocks that become array '" + std::string(most.array->name) +
                     "' have no max, so that they count as the whole; state one ([start : end; max]), or a "
                     "precondition in the mapping of instance '" +
                     graph.instances[most.instance].name + "': array " + std::string(most.array->name) +
                     "() { elements < …; }");
      else if (!smaller)
        builder.help("no tunable makes it smaller: array '" + std::string(most.array->name) +
                     "' has a dimension that is not cut; use smaller sizes, another level, or a variant that cuts that "
                     "dimension too");
      fits = false;
    }
  }
  return fits;
}

} // namespace strata::sequoia
