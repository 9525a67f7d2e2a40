// Chooses instances top-down from the entry: inner tasks where the arrays live, leaves at level 0, and the loops around
// leaf calls on the processors of level 0. A task that calls itself has an instance at each level in between whose
// memory holds elements (below a disk also in main memory), and its loops go to the level that they call. The tunables
// are chosen afterwards, in tune.cpp.
#include "compiler/sequoia/tune/default_mapping.h"

#include "base/machine/figures.h"
#include "base/machine/instance_range.h"
#include "compiler/sequoia/check/block.h"
#include "compiler/sequoia/check/fold.h"
#include "compiler/sequoia/resolve/check_levels.h"
#include "compiler/sequoia/resolve/resolve_loop.h"
#include "compiler/sequoia/tune/redistribute.h"
#include "compiler/sequoia/tune/rehearse.h"
#include "compiler/sequoia/tune/tune.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(entryUnknown, Error, "sequoia-entry-unknown", "the program has no task named '{0}'");
STRATA_DIAGNOSTIC(noTask, Error, "sequoia-no-task", "the program has no task");
STRATA_DIAGNOSTIC(entryUnclear, Error, "sequoia-entry-unclear", "{0}; --entry says which one is meant");
STRATA_DIAGNOSTIC(noLeaf, Error, "sequoia-default-leaf",
                  "task '{0}' has no {1}, so that no mapping of it can be made by itself");
STRATA_DIAGNOSTIC(tooDeep, Error, "sequoia-default-depth",
                  "calls of tasks are nested more than {0} deep here, which no mapping made by default is");

namespace {

constexpr size_t deepestCalls = 1000;

class DefaultBuilder {
public:
  DefaultBuilder(const Machine& machine, DiagnosticEngine& diagnostics) : machine_(machine), diagnostics_(diagnostics) {
    depths_.push_back(mainLevel(machine));
    for (unsigned level = depths_[0]; level-- > 1;)
      if (machine.isAddressed(machine.levels[level].memory))
        depths_.push_back(level);
  }

  std::optional<Mapping> run(const std::vector<const Task*>& entries) {
    mapping_.machine = machine_.name;
    for (const Task* entry : entries) {
      std::string name = instanceFor(*entry, 0);
      if (name.empty())
        return std::nullopt;
      taskOf(*entry).entryPoints.push_back({name, std::nullopt, {}});
    }
    return std::move(mapping_);
  }

  static const TaskVariant* variantOf(const Task& task, TaskKind kind) {
    for (const TaskVariant* variant : task.variants)
      if (variant->kind == kind)
        return variant;
    return nullptr;
  }
  static std::string nameOf(const TaskVariant& variant) {
    return std::string(variant.taskName) + "_" + std::string(variant.name);
  }

private:
  std::string nameOf(const TaskVariant& variant, size_t depth) const {
    return depth ? nameOf(variant) + "_level" + std::to_string(depths_[depth]) : nameOf(variant);
  }
  MappedTask& taskOf(const Task& task) {
    auto [at, isNew] = taskAt_.try_emplace(&task, mapping_.tasks.size());
    if (isNew)
      mapping_.tasks.emplace_back().name.text = task.name;
    return mapping_.tasks[at->second];
  }

  /// The name of the task's instance, made if it is not there yet; empty (with a message) when there can be none. An
  /// inner variant's runs at depths_[depth], or one level further in when the task is being mapped there already.
  std::string instanceFor(const Task& task, size_t depth) {
    auto isOpen = [&] { return std::find(open_.begin(), open_.end(), std::pair(&task, depth)) != open_.end(); };
    if (isOpen() && depth + 1 < depths_.size() && variantOf(task, TaskKind::Leaf))
      ++depth;
    bool open = isOpen();
    const TaskVariant* variant = open ? nullptr : variantOf(task, TaskKind::Inner);
    if (!variant)
      variant = variantOf(task, TaskKind::Leaf);
    if (!variant) {
      const TaskVariant* any = task.variants.empty() ? task.prototype : task.variants[0];
      bool onlyExternal = variantOf(task, TaskKind::External) != nullptr;
      diagnostics_
          .report(noLeaf, any->location, task.name,
                  open ? "leaf variant to end its recursion" : "inner or leaf variant")
          .help(onlyExternal ? "write a mapping that names the file of the external task" : "add a leaf variant");
      return {};
    }
    const bool isInner = variant->kind == TaskKind::Inner;
    if (isInner && open_.size() >= deepestCalls) {
      diagnostics_.report(tooDeep, variant->location, deepestCalls)
          .help("call tasks one after another, or from a loop, where they need not be nested");
      return {};
    }
    std::string name = nameOf(*variant, isInner ? depth : 0);
    if (made_.insert({variant, isInner ? depth : 0}).second) {
      bool ok = isInner ? inner(*variant, name, depth) : leaf(*variant, name);
      if (!ok)
        return {};
    }
    return name;
  }

  static MappedNumber number(int64_t value) { return {value, {}}; }
  MappedName named(std::string_view text, const auto& list, uint32_t lexnum, auto nameOfEach) {
    MappedName name;
    name.text = text;
    auto [counts, isFirst] = counts_.try_emplace(&list);
    if (isFirst)
      for (const auto* each : list)
        ++counts->second[nameOfEach(each)];
    if (counts->second[text] > 1)
      name.lexnum = lexnum;
    return name;
  }

  bool leaf(const TaskVariant& variant, const std::string& name) {
    MappedInstance instance;
    instance.name.text = name;
    instance.variant.text = variant.name;
    instance.level = number(0);
    tunables(variant, instance);
    taskOf(*variant.task).instances.push_back(std::move(instance));
    return true;
  }

  /// Null: it is still being made.
  const MappedInstance* instanceNamed(const std::string& name, const Task& task) {
    auto at = taskAt_.find(&task);
    if (at != taskAt_.end())
      for (const MappedInstance& instance : mapping_.tasks[at->second].instances)
        if (instance.name.text == name)
          return &instance;
    return nullptr;
  }

  void tunables(const TaskVariant& variant, MappedInstance& instance) {
    for (const Variable* tunable : variant.tunables)
      instance.tunables.push_back(
          {named(tunable->name, variant.tunables, tunable->lexnum, [](const Variable* each) { return each->name; }),
           number(1)});
  }

  bool inner(const TaskVariant& variant, const std::string& name, size_t depth) {
    open_.emplace_back(variant.task, depth);
    const unsigned own = depths_[depth];
    MappedInstance instance;
    instance.name.text = name;
    instance.variant.text = variant.name;
    instance.level = number(own);
    tunables(variant, instance);

    ControlMapping control;
    std::vector<unsigned> levels(variant.loops.size(), 0);
    std::set<const Variable*> known = knownEverywhere(variant);
    bool ok = true;
    for (const Callsite* site : variant.callsites) {
      std::string target = instanceFor(*site->callee, depth);
      if (target.empty()) {
        ok = false;
        continue;
      }
      MappedCallsite mapped;
      mapped.task = named(site->callee->name, variant.callsites, site->lexnum,
                          [](const Callsite* each) { return each->callee->name; });
      MappedTarget callee;
      callee.instance.text = target;
      const MappedInstance* calleeInstance = instanceNamed(target, *site->callee);
      const bool callsLeaf =
          calleeInstance && site->callee->find(calleeInstance->variant.text)->kind != TaskKind::Inner;
      if (calleeInstance && site->callee == variant.task && !isCutByTunables(*site, variant))
        callee.conditions = smallEnough(variant, *site, *calleeInstance);
      const bool isLast = callee.conditions.empty();
      mapped.targets.push_back(std::move(callee));
      if (!isLast) {
        MappedTarget& itself = mapped.targets.emplace_back();
        itself.instance.text = name;
      }
      const bool isOnlyTarget = mapped.targets.size() == 1;
      control.callsites.push_back(std::move(mapped));
      // A loop goes to the level of what it calls, when nothing that it reads lives elsewhere.
      const auto below = calleeInstance ? static_cast<unsigned>(calleeInstance->level->value) : own;
      // Loops over what lies on a disk stay with it, unless they call leaves.
      bool down = isOnlyTarget && (callsLeaf || (below < own && !machine_[machine_.levels[own].memory].files));
      for (const Loop* loop = site->loop; loop && down; loop = loop->parent)
        down = readsOnly(loop->start, known) && readsOnly(loop->end, known);
      if (site->loop && down)
        for (const Argument& argument : site->statement->arguments)
          down &= argument.value->kind == ExprKind::Variable || readsOnly(argument.value, known);
      for (const Loop* loop = site->loop; loop; loop = loop->parent)
        levels[loop->index] = std::max(levels[loop->index], down ? below : own);
    }
    for (const Loop* loop : variant.loops)
      control.loops.push_back(mapLoop(variant, *loop, levels[loop->index], depth));
    // Blocks of the next iteration come from a disk while those of this one are worked on.
    if (machine_[machine_.levels[own].memory].files)
      for (const Callsite* site : variant.callsites)
        if (site->loop && site->loop->kind != MapKind::Seq && levels[site->loop->index] == own)
          control.loops[site->loop->index].pipelineStages = number(2);
    control.level = number(own);
    if (!control.loops.empty() || !control.callsites.empty())
      instance.control.push_back(std::move(control));
    taskOf(*variant.task).instances.insert(taskOf(*variant.task).instances.begin(), std::move(instance));
    open_.pop_back();
    return ok;
  }

  /// Processors of a level that the code of an instance at a depth has: all of them at the outermost, further in
  /// those that belong to one processor there.
  int64_t processorsAt(unsigned level, size_t depth) const {
    machine::ProcessorId processor = machine_.controllerOf(level), own = machine_.controllerOf(depths_[depth]);
    if (!processor.valid())
      return 1;
    const auto count = static_cast<int64_t>(machine_[processor].count);
    if (depth == 0 || !own.valid())
      return count;
    const auto others = machine::InstanceRange().inClass(static_cast<int64_t>(machine_[own].count), count);
    return processor == own ? 1 : others->width();
  }

  /// Whether the blocks that a call passes have a size that the mapping sets.
  static bool isCutByTunables(const Callsite& site, const TaskVariant& variant) {
    for (const Argument& argument : site.statement->arguments)
      for (const Variable* tunable : variant.tunables)
        if (mentions(argument.value, tunable))
          return true;
    return false;
  }

  /// Whether a block has all of its array in a dimension.
  static bool isWhole(const Expr& block, size_t dimension) {
    if (block.ranges.empty())
      return true;
    const BlockRange& range = block.ranges[dimension];
    const Expr* extent = block.variable->extents[dimension].expression;
    auto same = [&](const Expr* expr) {
      while (expr->kind == ExprKind::Cast && expr->isImplicit)
        expr = expr->operands[0];
      return sameExpression(expr, extent) || (constantOf(expr) && constantOf(expr) == constantOf(extent));
    };
    if (constantOf(range.start) != 0 || (range.stride && constantOf(range.stride) != 1))
      return false;
    return range.end ? same(range.end) : !range.max || same(range.max);
  }

  /// Conditions under which a task that calls itself on parts calls its leaf, or an instance further down: the arrays
  /// that it has parts of are so small that the arguments take a quarter of where they go, which leaves room for local
  /// arrays and for the callers'. What is passed whole gets no smaller, and is asked nothing of.
  std::vector<TargetCondition> smallEnough(const TaskVariant& caller, const Callsite& site,
                                           const MappedInstance& callee) {
    std::vector<const Variable*> cut;
    std::set<std::pair<const Variable*, size_t>> cutDimensions;
    int64_t bytes = 0;
    size_t rank = 1;
    for (size_t i = 0; i < site.statement->arguments.size(); ++i) {
      const Expr& value = *site.statement->arguments[i].value;
      if (value.kind != ExprKind::Block)
        continue;
      bytes += value.variable->type->size;
      rank = std::max(rank, value.variable->extents.size());
      if (!value.operands.empty())
        continue;
      for (size_t d = 0; d < value.variable->extents.size(); ++d) {
        if (isWhole(value, d))
          continue;
        if (std::find(cut.begin(), cut.end(), value.variable) == cut.end())
          cut.push_back(value.variable);
        cutDimensions.insert({value.variable, d});
      }
    }
    const auto level = static_cast<unsigned>(callee.level->value);
    const machine::MemoryId memory = machine_.levels[level].memory;
    const int64_t room = int64_t(isLimited(machine_, level) ? machine_.capacityOf(memory).bytes
                                                            : machine::figuresOf(machine_).nearBytes()) /
                         4;
    int64_t extent = 1;
    auto taken = [&](int64_t each) {
      int64_t elements = bytes;
      for (size_t d = 0; d < rank; ++d)
        if (__builtin_mul_overflow(elements, each, &elements))
          return INT64_MAX;
      return elements;
    };
    constexpr int64_t any = int64_t(1) << 40;
    while (taken(extent * 2) <= room && extent < any)
      extent *= 2;
    std::vector<TargetCondition> conditions;
    for (const Variable* array : cut) {
      TargetCondition& condition = conditions.emplace_back();
      condition.array =
          named(array->name, caller.arrays, array->lexnum, [](const Variable* each) { return each->name; });
      for (size_t d = 0; d < array->extents.size(); ++d)
        condition.bound.values.push_back(cutDimensions.count({array, d}) ? extent : any);
    }
    return conditions;
  }

  MappedLoop mapLoop(const TaskVariant& variant, const Loop& loop, unsigned level, size_t depth) {
    MappedLoop mapped;
    mapped.name =
        named(loop.variableName, variant.loops, loop.lexnum, [](const Loop* each) { return each->variableName; });
    mapped.level = number(level);
    // The outermost parallel loop of a nest is distributed over the processors.
    for (const Loop* outer = loop.parent; outer; outer = outer->parent)
      if (outer->kind != MapKind::Seq)
        return mapped;
    if (loop.kind == MapKind::Seq || (level != 0 && level >= depths_[depth]))
      return mapped;
    SpmdMapping spmd;
    if (machine_.isExplicit(machine_.levels[level].memory) && machine_.controllerOf(level).valid()) {
      const int64_t count = processorsAt(level, depth);
      if (count == 1)
        return mapped;
      spmd.fullRange = {0, count};
      spmd.ways = number(count);
      // Arrays in a virtual memory have even shares in the memories that it joins: iterations that follow each other
      // find what they work on in their own, most of them.
      if (!machine_[machine_.levels[depths_[depth]].memory].isVirtual())
        spmd.iterationBlock = number(1);
    } else if (loop.kind == MapKind::Reduce && shareMemory(machine_, level)) {
      spmd.ways = number(reductionWays);
    } else {
      spmd.waysAuto = true;
    }
    // Without a block of iterations each part is contiguous, which caches like.
    mapped.spmd = spmd;
    return mapped;
  }

  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  std::vector<unsigned> depths_; // the levels of inner tasks, from the outermost
  Mapping mapping_;
  std::set<std::pair<const TaskVariant*, size_t>> made_;
  std::vector<std::pair<const Task*, size_t>> open_; // being mapped, and at which depth
  std::unordered_map<const Task*, size_t> taskAt_;   // in the mapping
  /// How often each name is in a list of a variant.
  std::unordered_map<const void*, std::unordered_map<std::string_view, size_t>> counts_;
};

/// Tasks that some variant of another task calls.
std::set<const Task*> calledTasks(const Program& program) {
  std::set<const Task*> called;
  for (const Task& task : program.tasks)
    for (const TaskVariant* variant : task.variants)
      for (const Callsite* site : variant->callsites)
        if (site->callee != &task)
          called.insert(site->callee);
  return called;
}

/// The task of a name. Null (with a message) when there is none.
const Task* taskNamed(const Program& program, std::string_view entry, const Location& where,
                      DiagnosticEngine& diagnostics) {
  if (const Task* task = program.findTask(entry))
    return task;
  std::vector<std::string> names;
  std::string list;
  for (const Task& task : program.tasks) {
    // The name of the instance that it begins with, as runs print it.
    for (TaskKind kind : {TaskKind::Inner, TaskKind::Leaf})
      if (const TaskVariant* variant = DefaultBuilder::variantOf(task, kind)) {
        if (DefaultBuilder::nameOf(*variant) == entry)
          return &task;
        break;
      }
    names.emplace_back(task.name);
    list += (list.empty() ? "'" : ", '") + names.back() + "'";
  }
  DiagnosticBuilder builder = diagnostics.report(entryUnknown, where, entry);
  builder.note("its tasks are " + list);
  if (std::string nearest = nearestName(entry, names); !nearest.empty())
    builder.help("did you mean '" + nearest + "'?");
  else
    builder.help("without a mapping, --entry takes the name of a task");
  return nullptr;
}

} // namespace

const Task* entryTask(const Program& program, const AskedEntry& asked, DiagnosticEngine& diagnostics) {
  std::vector<const Task*> tasks = entryTasks(program, {asked.name, asked.where}, diagnostics);
  return tasks.empty() ? nullptr : tasks.front();
}

std::vector<const Task*> entryTasks(const Program& program, const AskedEntry& asked, DiagnosticEngine& diagnostics) {
  if (!asked.name.empty()) {
    std::vector<std::pair<std::string_view, Location>> wanted{{asked.name, asked.where}};
    wanted.insert(wanted.end(), asked.others.begin(), asked.others.end());
    std::vector<const Task*> tasks;
    for (const auto& [name, where] : wanted) {
      const Task* task = taskNamed(program, name, where, diagnostics);
      if (!task)
        return {};
      if (std::find(tasks.begin(), tasks.end(), task) == tasks.end())
        tasks.push_back(task);
    }
    return tasks;
  }
  std::set<const Task*> called = calledTasks(program);
  std::vector<const Task*> found;
  for (const Task& task : program.tasks)
    if (!called.contains(&task) && !task.variants.empty())
      found.push_back(&task);
  if (found.size() == 1 || (!found.empty() && asked.isEvery))
    return found;
  if (found.empty()) {
    if (called.empty())
      diagnostics.report(noTask, {program.file, 0, 0})
          .help("write one with a leaf: void task NAME(…); void task<leaf> NAME::VARIANT(…) { … }");
    else
      diagnostics
          .report(entryUnclear, {program.file, 0, 0},
                  "the program has no task to start with: each is called by another one")
          .help("name one: --entry TASK");
    return {};
  }
  DiagnosticBuilder builder =
      diagnostics.report(entryUnclear, found[0]->variants[0]->location,
                         "the program has " + std::to_string(found.size()) + " tasks to start with");
  builder.label("task '" + std::string(found[0]->name) + "'");
  for (size_t i = 1; i < found.size(); ++i)
    builder.label(found[i]->variants[0]->location, "task '" + std::string(found[i]->name) + "'");
  builder.help("name one: --entry " + std::string(found[0]->name));
  return {};
}

/// Whether some instance calls itself without end with these sizes; not, where that is not known.
static bool callsItselfWithoutEnd(const InstanceGraph& graph, const KnownSizes& known) {
  for (uint32_t i = 0; i < graph.instances.size(); ++i)
    for (const ResolvedCallsite& site : graph.instances[i].callsites)
      for (const ResolvedTarget& target : site.targets)
        if (target.instance == i)
          return rehearse(graph, known).isEndless;
  return false;
}

/// Leaves out the targets by which instances call themselves where others are small enough. False where there are none.
static bool callOnlyOthers(Mapping& mapping) {
  bool changed = false;
  for (MappedTask& task : mapping.tasks)
    for (MappedInstance& instance : task.instances)
      for (ControlMapping& control : instance.control)
        for (MappedCallsite& site : control.callsites)
          if (site.targets.size() > 1 && site.targets.back().instance.text == instance.name.text) {
            site.targets.resize(1);
            site.targets.front().conditions.clear();
            changed = true;
          }
  return changed;
}

std::optional<Mapping> defaultMapping(const Program& program, const Machine& machine, const AskedEntry& entry,
                                      const KnownSizes& known, DiagnosticEngine& diagnostics, unsigned halvings,
                                      bool anySizes) {
  const std::vector<const Task*> tasks = entryTasks(program, entry, diagnostics);
  std::optional<Mapping> mapping = tasks.empty() ? std::nullopt : DefaultBuilder(machine, diagnostics).run(tasks);
  if (!mapping)
    return std::nullopt;
  AskedEntry every;
  every.isEvery = true;
  std::optional<InstanceGraph> graph = resolve(program, *mapping, machine, every, diagnostics);
  if (!graph || !tune(*graph, machine, known, diagnostics, halvings, anySizes))
    return std::nullopt;
  if (Mapping other = *mapping; !anySizes && redistribute(*graph, machine, known, other)) {
    // Other loops that are distributed ask for other blocks, which may not fit.
    DiagnosticEngine quiet(diagnostics.sources());
    std::optional<InstanceGraph> again = resolve(program, other, machine, every, quiet);
    if (again && tune(*again, machine, known, quiet, halvings, anySizes)) {
      mapping = std::move(other);
      graph = std::move(again);
    }
  }
  // With sizes that are known one level of parts does: the leaf, or the next level, takes each of them.
  if (callsItselfWithoutEnd(*graph, known) && callOnlyOthers(*mapping)) {
    graph = resolve(program, *mapping, machine, every, diagnostics);
    if (!graph || !tune(*graph, machine, known, diagnostics, halvings, anySizes))
      return std::nullopt;
  }
  adopt(*graph, *mapping);
  return mapping;
}

} // namespace strata::sequoia
