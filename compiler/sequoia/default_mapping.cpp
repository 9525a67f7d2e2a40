// Chooses instances top-down from the entry: inner tasks where the arrays live, leaves at level 0, and the loops around
// leaf calls on the processors of level 0. Where arrays live on a disk, a task that calls itself is cut twice: once for
// main memory, and there again. The tunables are chosen afterwards, in tune.cpp.
#include "compiler/sequoia/default_mapping.h"

#include "compiler/sequoia/check_levels.h"
#include "compiler/sequoia/tune.h"

#include <algorithm>
#include <set>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(entryUnknown, Error, "sequoia-entry-unknown", "the program has no task named '{0}'");
STRATA_DIAGNOSTIC(entryUnclear, Error, "sequoia-entry-unclear", "{0}");
STRATA_DIAGNOSTIC(noLeaf, Error, "sequoia-default-leaf",
                  "task '{0}' has no {1}, so that no mapping of it can be made by itself");

namespace {

/// Parts that a parallel reduction is split into on machines whose processors share memory: fixed, since it sets the
/// rounding.
constexpr int64_t reductionWays = 16;

class Builder {
public:
  Builder(const Machine& machine, DiagnosticEngine& diagnostics)
      : machine_(machine), diagnostics_(diagnostics), stages_{mainLevel(machine)} {
    if (!machine[machine.levels[stages_[0]].memory].files)
      return;
    for (unsigned level = stages_[0]; level-- > 1;)
      if (machine.isAddressed(machine.levels[level].memory)) {
        stages_.push_back(level);
        return;
      }
  }

  std::optional<Mapping> run(const Task& entry) {
    mapping_.machine = machine_.name;
    std::string name = instanceFor(entry, 0);
    if (name.empty())
      return std::nullopt;
    taskOf(entry).entryPoints.push_back({name, std::nullopt, {}});
    return std::move(mapping_);
  }

private:
  static const TaskVariant* variantOf(const Task& task, TaskKind kind) {
    for (const TaskVariant* variant : task.variants)
      if (variant->kind == kind)
        return variant;
    return nullptr;
  }
  static std::string nameOf(const TaskVariant& variant) {
    return std::string(variant.taskName) + "_" + std::string(variant.name);
  }
  MappedTask& taskOf(const Task& task) {
    for (MappedTask& each : mapping_.tasks)
      if (each.name.text == task.name)
        return each;
    MappedTask& made = mapping_.tasks.emplace_back();
    made.name.text = task.name;
    return made;
  }

  /// The name of the task's instance that is called from a stage, made if it is not there yet; empty (with a message)
  /// when there can be none.
  std::string instanceFor(const Task& task, size_t stage) {
    auto isOpen = [&](size_t at) { return std::find(open_.begin(), open_.end(), std::pair(&task, at)) != open_.end(); };
    const TaskVariant* variant = open_.size() > 200 ? nullptr : variantOf(task, TaskKind::Inner);
    bool open = isOpen(stage);
    if (open && variant && stage + 1 < stages_.size() && variantOf(task, TaskKind::Leaf)) {
      ++stage;
      open = isOpen(stage);
    }
    if (open)
      variant = nullptr;
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
    std::string name = nameOf(*variant);
    if (variant->kind == TaskKind::Leaf)
      stage = 0; // leaves are the same wherever they are called from
    else if (stage > 0)
      name += "_level" + std::to_string(stages_[stage]);
    if (made_.insert({variant, stage}).second) {
      bool ok = variant->kind == TaskKind::Inner ? inner(*variant, name, stage) : leaf(*variant, name);
      if (!ok)
        return {};
    }
    return name;
  }

  static MappedNumber number(int64_t value) { return {value, {}}; }
  static MappedName named(std::string_view text, const auto& list, uint32_t lexnum, auto nameOfEach) {
    MappedName name;
    name.text = text;
    if (std::count_if(list.begin(), list.end(), [&](const auto* each) { return nameOfEach(each) == text; }) > 1)
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

  static void tunables(const TaskVariant& variant, MappedInstance& instance) {
    for (const Variable* tunable : variant.tunables)
      instance.tunables.push_back(
          {named(tunable->name, variant.tunables, tunable->lexnum, [](const Variable* each) { return each->name; }),
           number(1)});
  }

  bool inner(const TaskVariant& variant, const std::string& name, size_t stage) {
    const unsigned level = stages_[stage];
    open_.push_back({variant.task, stage});
    MappedInstance instance;
    instance.name.text = name;
    instance.variant.text = variant.name;
    instance.level = number(level);
    tunables(variant, instance);

    ControlMapping control;
    std::vector<unsigned> levels(variant.loops.size(), 0);
    std::set<const Variable*> known = knownEverywhere(variant);
    bool ok = true;
    for (const Callsite* site : variant.callsites) {
      std::string target = instanceFor(*site->callee, stage);
      if (target.empty()) {
        ok = false;
        continue;
      }
      MappedCallsite mapped;
      mapped.task = named(site->callee->name, variant.callsites, site->lexnum,
                          [](const Callsite* each) { return each->callee->name; });
      MappedTarget callee;
      callee.instance.text = target;
      mapped.targets.push_back(std::move(callee));
      control.callsites.push_back(std::move(mapped));
      // A loop goes to the processors when what it calls is a leaf, and nothing that it reads lives elsewhere.
      const MappedInstance* calleeInstance = mapping_.findInstance(target);
      bool down = calleeInstance && site->callee->find(calleeInstance->variant.text)->kind != TaskKind::Inner;
      for (const Loop* loop = site->loop; loop && down; loop = loop->parent)
        down = readsOnly(loop->start, known) && readsOnly(loop->end, known);
      if (site->loop && down)
        for (const Argument& argument : site->statement->arguments)
          down &= argument.value->kind == ExprKind::Variable || readsOnly(argument.value, known);
      for (const Loop* loop = site->loop; loop; loop = loop->parent)
        if (!down)
          levels[loop->index] = level;
    }
    for (const Loop* loop : variant.loops)
      control.loops.push_back(mapLoop(variant, *loop, levels[loop->index]));
    // Blocks of the next iteration come from a disk while those of this one are worked on.
    if (machine_[machine_.levels[level].memory].files)
      for (const Callsite* site : variant.callsites)
        if (site->loop && site->loop->kind != MapKind::Seq && levels[site->loop->index] == level)
          control.loops[site->loop->index].pipelineStages = number(2);
    control.level = number(level);
    if (!control.loops.empty() || !control.callsites.empty())
      instance.control.push_back(std::move(control));
    taskOf(*variant.task).instances.insert(taskOf(*variant.task).instances.begin(), std::move(instance));
    open_.pop_back();
    return ok;
  }

  MappedLoop mapLoop(const TaskVariant& variant, const Loop& loop, unsigned level) {
    MappedLoop mapped;
    mapped.name =
        named(loop.variableName, variant.loops, loop.lexnum, [](const Loop* each) { return each->variableName; });
    mapped.level = number(level);
    // The outermost parallel loop of a nest is dealt to the processors.
    for (const Loop* outer = loop.parent; outer; outer = outer->parent)
      if (outer->kind != MapKind::Seq)
        return mapped;
    if (loop.kind == MapKind::Seq || level != 0)
      return mapped;
    SpmdMapping spmd;
    machine::ProcessorId processor = machine_.controllerOf(0);
    if (machine_.isExplicit(machine_.levels[0].memory) && processor.valid()) {
      int64_t count = static_cast<int64_t>(machine_[processor].count);
      spmd.fullRange = {0, count};
      spmd.ways = number(count);
      spmd.iterationBlock = number(1);
    } else if (loop.kind == MapKind::Reduce) {
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
  std::vector<unsigned> stages_; // the levels at which inner tasks cut arrays, outermost first
  Mapping mapping_;
  std::set<std::pair<const TaskVariant*, size_t>> made_; // with the stage
  std::vector<std::pair<const Task*, size_t>> open_;
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

} // namespace

const Task* entryTask(const Program& program, std::string_view entry, DiagnosticEngine& diagnostics) {
  std::vector<std::string> names;
  if (!entry.empty()) {
    if (const Task* task = program.findTask(entry))
      return task;
    for (const Task& task : program.tasks)
      names.emplace_back(task.name);
    DiagnosticBuilder builder = diagnostics.report(entryUnknown, {program.file, 0, 0}, entry);
    if (std::string nearest = nearestName(entry, names); !nearest.empty())
      builder.help("did you mean '" + nearest + "'?");
    return nullptr;
  }
  std::set<const Task*> called = calledTasks(program);
  const Task* found = nullptr;
  for (const Task& task : program.tasks) {
    if (called.contains(&task) || task.variants.empty())
      continue;
    found = &task;
    names.emplace_back(task.name);
  }
  if (names.size() == 1)
    return found;
  std::string text = names.empty() ? "the program has no task that is not called by others"
                                   : "the program has several tasks to begin with:";
  for (const std::string& name : names)
    text += " " + name;
  diagnostics.report(entryUnclear, {program.file, 0, 0}, text).help("name the entry: --entry TASK");
  return nullptr;
}

std::optional<Mapping> defaultMapping(const Program& program, const Machine& machine, std::string_view entry,
                                      const KnownSizes& known, DiagnosticEngine& diagnostics) {
  const Task* task = entryTask(program, entry, diagnostics);
  if (!task)
    return std::nullopt;
  std::optional<Mapping> mapping = Builder(machine, diagnostics).run(*task);
  if (!mapping)
    return std::nullopt;
  std::optional<InstanceGraph> graph = resolve(program, *mapping, machine, {}, diagnostics);
  if (!graph || !tune(*graph, machine, known, diagnostics))
    return std::nullopt;
  adopt(*graph, *mapping);
  return mapping;
}

} // namespace strata::sequoia
