// Looks up what a mapping names, in the program and in the machine, and builds the graph of instances.
#include "compiler/sequoia/resolve.h"
#include "compiler/sequoia/check_levels.h"
#include "compiler/sequoia/resolve_loop.h"

#include <algorithm>
#include <deque>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(unknownTask, Error, "sequoia-mapping-task", "the program has no task named '{0}'");
STRATA_DIAGNOSTIC(unknownVariant, Error, "sequoia-mapping-variant", "task '{0}' has no variant named '{1}'");
STRATA_DIAGNOSTIC(duplicateInstance, Error, "sequoia-mapping-instance", "two instances are named '{0}'");
STRATA_DIAGNOSTIC(unknownObject, Error, "sequoia-mapping-name", "'{0}::{1}' has no {2} named '{3}'");
STRATA_DIAGNOSTIC(ambiguousObject, Error, "sequoia-mapping-ambiguous", "'{0}::{1}' has {2} {3}s named '{4}'");
STRATA_DIAGNOSTIC(lexnumRange, Error, "sequoia-mapping-lexnum",
                  "'{0}::{1}' has only {2} {3}s named '{4}'; they are counted from 0");
STRATA_DIAGNOSTIC(objectTwice, Error, "sequoia-mapping-repeated", "{0} '{1}' is mapped twice in instance '{2}'");
STRATA_DIAGNOSTIC(tunableTooLarge, Error, "sequoia-mapping-tunable-too-large",
                  "tunable '{0}' is {1}, and {2} is the most it can be");
STRATA_DIAGNOSTIC(missingTunable, Error, "sequoia-mapping-tunable", "instance '{0}' gives no value to tunable '{1}'");
STRATA_DIAGNOSTIC(missingCallsite, Error, "sequoia-mapping-callsite",
                  "instance '{0}' does not say what its call of task '{1}' calls");
STRATA_DIAGNOSTIC(noTargets, Error, "sequoia-mapping-targets", "this callsite has no target");
STRATA_DIAGNOSTIC(unknownTarget, Error, "sequoia-mapping-target", "no instance of task '{0}' is named '{1}'");
STRATA_DIAGNOSTIC(levelRange, Error, "sequoia-mapping-level",
                  "level {0} does not exist; machine '{1}' has levels 0 to {2}");
STRATA_DIAGNOSTIC(levelMissing, Error, "sequoia-mapping-level-missing", "instance '{0}' is given no level");
STRATA_DIAGNOSTIC(unknownEntry, Error, "sequoia-mapping-entry", "{0}");
STRATA_DIAGNOSTIC(unreached, Error, "sequoia-mapping-unreached", "instance '{0}' is reached from no entry point");
STRATA_DIAGNOSTIC(sizesRank, Error, "sequoia-mapping-rank", "array '{0}' has {1} dimensions, and is given {2} sizes");
STRATA_DIAGNOSTIC(preconditionLocal, Error, "sequoia-mapping-precondition",
                  "'{0}' is a local array, and can have no precondition");
STRATA_DIAGNOSTIC(externalFile, Error, "sequoia-mapping-external", "{0}");

bool isLimited(const Machine& machine, unsigned level) {
  machine::MemoryId memory = machine.levels[level].memory;
  return machine.isExplicit(memory) && machine.capacityOf(memory).kind == machine::Capacity::Kind::Bytes;
}

unsigned mainLevel(const Machine& machine) {
  unsigned outermost = static_cast<unsigned>(machine.levels.size()) - 1;
  bool anyLimited = false;
  for (unsigned level = 0; level < machine.levels.size(); ++level)
    anyLimited |= isLimited(machine, level);
  for (unsigned level = 0; level < machine.levels.size() && anyLimited; ++level)
    if (!isLimited(machine, level) && !machine[machine.levels[level].memory].isVirtual())
      return level;
  return outermost;
}

namespace {

class Resolver {
public:
  Resolver(const Program& program, const Mapping& mapping, const Machine& machine, DiagnosticEngine& diagnostics)
      : program_(program), mapping_(mapping), machine_(machine), diagnostics_(diagnostics) {}

  std::optional<InstanceGraph> run(std::string_view entry) {
    unsigned before = diagnostics_.errorCount();
    if (machine_.levels.empty()) {
      diagnostics_.report(levelRange, mapping_.machinePlace.location, 0, machine_.name, -1);
      return std::nullopt;
    }
    collect();
    std::vector<uint32_t> entries = entryPoints(entry);
    if (entries.empty() || diagnostics_.errorCount() != before)
      return std::nullopt;
    for (Entry& each : all_)
      instance(each);
    if (diagnostics_.errorCount() != before)
      return std::nullopt;
    reportUnreached();
    InstanceGraph graph = reachable(entries.front());
    if (diagnostics_.errorCount() == before)
      checkLevels(graph, machine_, diagnostics_);
    if (diagnostics_.errorCount() != before)
      return std::nullopt;
    return graph;
  }

private:
  /// An instance of the mapping with what it resolves to; targets count in this list until the graph is built.
  struct Entry {
    const MappedInstance* mapped = nullptr;
    Instance resolved;
    bool isEntryPoint = false;
  };

  void collect() {
    for (const MappedTask& task : mapping_.tasks) {
      const Task* found = program_.findTask(task.name.text);
      if (!found) {
        std::vector<std::string> names;
        for (const Task& each : program_.tasks)
          names.emplace_back(each.name);
        DiagnosticBuilder builder = diagnostics_.report(unknownTask, task.name.place.location, task.name.text);
        suggest(builder, task.name.text, names);
        continue;
      }
      for (const MappedInstance& instance : task.instances) {
        if (const Entry* other = find(instance.name.text)) {
          diagnostics_.report(duplicateInstance, instance.name.place.location, instance.name.text)
              .label(other->mapped->name.place.location, "first here");
          continue;
        }
        const TaskVariant* variant = found->find(instance.variant.text);
        if (!variant) {
          std::vector<std::string> names;
          for (const TaskVariant* each : found->variants)
            names.emplace_back(each->name);
          DiagnosticBuilder builder = diagnostics_.report(unknownVariant, instance.variant.place.location,
                                                          task.name.text, instance.variant.text);
          if (found->prototype)
            builder.label(found->prototype->location, "the task");
          suggest(builder, instance.variant.text, names);
          continue;
        }
        Entry& entry = all_.emplace_back();
        entry.mapped = &instance;
        entry.resolved.name = instance.name.text;
        entry.resolved.task = found;
        entry.resolved.variant = variant;
        entry.resolved.place = instance.name.place.location;
      }
    }
  }

  static void suggest(DiagnosticBuilder& builder, std::string_view name, const std::vector<std::string>& candidates) {
    if (std::string nearest = nearestName(name, candidates); !nearest.empty())
      builder.help("did you mean '" + nearest + "'?");
  }

  Entry* find(std::string_view name) {
    for (Entry& entry : all_)
      if (entry.mapped->name.text == name)
        return &entry;
    return nullptr;
  }
  uint32_t indexOf(const Entry& entry) const {
    for (uint32_t i = 0; i < all_.size(); ++i)
      if (&all_[i] == &entry)
        return i;
    return 0;
  }

  /// The entry asked for first, then all others, which count for what is reached.
  std::vector<uint32_t> entryPoints(std::string_view asked) {
    std::vector<uint32_t> entries;
    std::vector<std::string> names;
    for (const MappedTask& task : mapping_.tasks) {
      for (const MappedName& name : task.entryPoints) {
        Entry* entry = find(name.text);
        if (!entry || entry->resolved.task->name != task.name.text) {
          std::vector<std::string> candidates;
          for (const MappedInstance& each : task.instances)
            candidates.push_back(each.name.text);
          DiagnosticBuilder builder =
              diagnostics_.report(unknownTarget, name.place.location, task.name.text, name.text);
          suggest(builder, name.text, candidates);
          continue;
        }
        entry->isEntryPoint = true;
        names.push_back(name.text);
        entries.push_back(indexOf(*entry));
      }
    }
    Location where = mapping_.tasks.empty() ? mapping_.machinePlace.location : mapping_.tasks[0].name.place.location;
    if (entries.empty()) {
      diagnostics_.report(unknownEntry, where, "the mapping has no entry point")
          .help("write it behind the name of its task: task NAME : entrypoint(INSTANCE)");
      return {};
    }
    if (asked.empty())
      return entries;
    for (size_t i = 0; i < entries.size(); ++i) {
      const Entry& entry = all_[entries[i]];
      if (entry.resolved.name == asked || entry.resolved.task->name == asked) {
        std::swap(entries[0], entries[i]);
        return entries;
      }
    }
    DiagnosticBuilder builder = diagnostics_.report(
        unknownEntry, where, "no entry point of the mapping is an instance of '" + std::string(asked) + "'");
    suggest(builder, asked, names);
    return {};
  }

  /// The place of a named object in a list of the variant; nothing (with a message) when it is not found or not unique.
  template <typename List, typename NameOf>
  std::optional<uint32_t> lookUp(const MappedName& name, const List& list, NameOf nameOf, const char* what) {
    std::vector<uint32_t> matches;
    std::vector<std::string> names;
    for (uint32_t i = 0; i < list.size(); ++i) {
      names.emplace_back(nameOf(list[i]));
      if (names.back() == name.text)
        matches.push_back(i);
    }
    const TaskVariant& variant = *current_->resolved.variant;
    const Location& where = name.place.location;
    if (matches.empty()) {
      DiagnosticBuilder builder =
          diagnostics_.report(unknownObject, where, variant.taskName, variant.name, what, name.text);
      builder.label(variant.location, "the variant");
      suggest(builder, name.text, names);
      return std::nullopt;
    }
    if (name.lexnum && *name.lexnum >= matches.size()) {
      diagnostics_.report(lexnumRange, where, variant.taskName, variant.name, matches.size(), what, name.text)
          .label(variant.location, "the variant");
      return std::nullopt;
    }
    if (!name.lexnum && matches.size() > 1) {
      DiagnosticBuilder builder =
          diagnostics_.report(ambiguousObject, where, variant.taskName, variant.name, matches.size(), what, name.text);
      builder.label(list[matches[0]]->location, "number 0").label(list[matches[1]]->location, "number 1");
      builder.help("write " + name.text + "[0], " + name.text + "[1], …");
      return std::nullopt;
    }
    return matches[name.lexnum.value_or(0)];
  }

  std::optional<uint32_t> array(const MappedName& name) {
    return lookUp(name, current_->resolved.variant->arrays, [](const Variable* each) { return each->name; }, "array");
  }

  /// Whether an object is mapped for the first time.
  bool first(std::vector<char>& seen, uint32_t index, const char* what, const MappedName& name) {
    if (seen[index])
      diagnostics_.report(objectTwice, name.place.location, what, name.text, current_->resolved.name);
    return !std::exchange(seen[index], 1);
  }

  unsigned level(const OptionalNumber& number, unsigned otherwise) {
    if (!number)
      return otherwise;
    if (number->value < 0 || static_cast<uint64_t>(number->value) >= machine_.levels.size()) {
      DiagnosticBuilder builder = diagnostics_.report(levelRange, number->place.location, number->value, machine_.name,
                                                      machine_.levels.size() - 1);
      if (machine_.origin.location.valid())
        builder.label(machine_.origin.location, "the machine");
      return otherwise;
    }
    return static_cast<unsigned>(number->value);
  }

  void unsupported(bool present, const Location& where, std::string_view what) {
    if (present)
      reportUnsupported(what, where, diagnostics_);
  }

  void instance(Entry& entry) {
    current_ = &entry;
    const MappedInstance& mapped = *entry.mapped;
    Instance& resolved = entry.resolved;
    const TaskVariant& variant = *resolved.variant;
    if (!mapped.level && machine_.levels.size() > 1)
      diagnostics_.report(levelMissing, mapped.name.place.location, mapped.name.text)
          .help("write the number of a level in the parentheses: (level 0)");
    unsigned own = level(mapped.level, 0);
    resolved.controlLevel = own;
    resolved.scalarLevel = own;
    resolved.externalFile = mapped.externalFile;
    bool isExternal = variant.kind == TaskKind::External;
    if (isExternal && mapped.externalFile.empty())
      diagnostics_
          .report(externalFile, mapped.name.place.location,
                  "an instance of an external task names the file that has it")
          .label(variant.location, "the external task")
          .help("write external(\"FILE\") behind the level");
    if (!isExternal && !mapped.externalFile.empty())
      diagnostics_.report(externalFile, mapped.name.place.location, "only an instance of an external task has a file")
          .label(variant.location, "the variant");
    unsupported(mapped.scratch.has_value(), mapped.name.place.location, "scratch space");
    if (mapped.uniqueOverlay)
      reportHint("a unique overlay", mapped.name.place.location, diagnostics_);
    tunables(mapped, resolved);
    data(mapped, resolved, own);
    control(mapped, resolved, own);
  }

  static constexpr int64_t largestTunable = int64_t(1) << 40;

  void tunables(const MappedInstance& mapped, Instance& resolved) {
    const TaskVariant& variant = *resolved.variant;
    std::vector<char> seen(variant.tunables.size());
    resolved.tunables.assign(variant.tunables.size(), 0);
    for (const MappedTunable& tunable : mapped.tunables) {
      auto index = lookUp(tunable.name, variant.tunables, [](const Variable* each) { return each->name; }, "tunable");
      if (index && first(seen, *index, "tunable", tunable.name))
        resolved.tunables[*index] = tunable.value.value;
      // Sums and products of a tunable and a size must not overflow.
      if (tunable.value.value > largestTunable)
        diagnostics_.report(tunableTooLarge, tunable.value.place.location, tunable.name.text, tunable.value.value,
                            largestTunable);
    }
    for (const Variable* tunable : variant.tunables)
      if (!seen[tunable->index])
        diagnostics_.report(missingTunable, mapped.name.place.location, mapped.name.text, tunable->name)
            .label(tunable->location, "declared here")
            .help("write tunable " + std::string(tunable->name) + " = VALUE; in the instance");
  }

  void data(const MappedInstance& mapped, Instance& resolved, unsigned own) {
    const TaskVariant& variant = *resolved.variant;
    std::vector<char> seen(variant.arrays.size());
    // An array that no block names takes the level of the first block that gives one.
    unsigned byDefault = own;
    for (size_t i = mapped.data.size(); i-- > 0;)
      byDefault = level(mapped.data[i].level, byDefault);
    resolved.scalarLevel = byDefault;
    resolved.arrayLevels.assign(variant.arrays.size(), byDefault);
    for (const DataMapping& block : mapped.data) {
      unsigned blockLevel = level(block.level, own);
      unsupported(!block.spaceShare.empty(), block.place.location, "spaceshare");
      for (const MappedName& name : block.spaceShare)
        array(name);
      for (const MappedArray& mappedArray : block.arrays) {
        auto index = array(mappedArray.name);
        if (!index || !first(seen, *index, "array", mappedArray.name))
          continue;
        resolved.arrayLevels[*index] = level(mappedArray.level, blockLevel);
        const Variable& declared = *variant.arrays[*index];
        for (const SizeBound& bound : mappedArray.elements)
          if (sizes(bound, declared))
            resolved.preconditions.push_back({&declared, bound});
        for (const SizeBound& bound : mappedArray.pitch)
          if (sizes(bound, declared))
            unsupported(true, bound.place.location, "a pitch precondition");
        if (mappedArray.blockCyclic)
          unsupported(true, mappedArray.blockCyclic->place.location, "a blockcyclic layout");
      }
    }
  }

  bool sizes(const SizeBound& bound, const Variable& array) {
    if (array.kind != VariableKind::Parameter) {
      diagnostics_.report(preconditionLocal, bound.place.location, array.name).label(array.location, "declared here");
      return false;
    }
    return rank(bound, array);
  }
  bool rank(const SizeBound& bound, const Variable& array) {
    if (bound.values.size() == array.extents.size())
      return true;
    diagnostics_.report(sizesRank, bound.place.location, array.name, array.extents.size(), bound.values.size())
        .label(array.location, "declared here");
    return false;
  }

  void control(const MappedInstance& mapped, Instance& resolved, unsigned own) {
    const TaskVariant& variant = *resolved.variant;
    unsigned byDefault = own;
    for (size_t i = mapped.control.size(); i-- > 0;)
      byDefault = level(mapped.control[i].level, byDefault);
    resolved.loops.resize(variant.loops.size());
    for (size_t i = 0; i < resolved.loops.size(); ++i) {
      resolved.loops[i].loop = variant.loops[i];
      resolved.loops[i].level = byDefault;
    }
    resolved.callsites.resize(variant.callsites.size());
    std::vector<char> seenLoops(variant.loops.size()), seenSites(variant.callsites.size());
    for (const ControlMapping& block : mapped.control) {
      unsigned blockLevel = level(block.level, own);
      for (const MappedLoop& mappedLoop : block.loops) {
        auto index =
            lookUp(mappedLoop.name, variant.loops, [](const Loop* each) { return each->variableName; }, "loop");
        if (index && first(seenLoops, *index, "loop", mappedLoop.name)) {
          resolved.loops[*index].level = level(mappedLoop.level, blockLevel);
          resolveLoop(mappedLoop, resolved.loops[*index], machine_, diagnostics_);
        }
      }
      for (const MappedCallsite& site : block.callsites) {
        auto index =
            lookUp(site.task, variant.callsites, [](const Callsite* each) { return each->callee->name; }, "callsite");
        if (index && first(seenSites, *index, "callsite", site.task))
          targets(site, resolved.callsites[*index], *variant.callsites[*index]);
      }
    }
    for (const Callsite* site : variant.callsites) {
      ResolvedCallsite& target = resolved.callsites[site->index];
      target.callsite = site;
      target.level = site->loop ? resolved.loops[site->loop->index].level : resolved.controlLevel;
      if (!seenSites[site->index])
        onlyTarget(*site, target);
    }
  }

  void targets(const MappedCallsite& site, ResolvedCallsite& resolved, const Callsite& callsite) {
    if (site.targets.empty())
      diagnostics_.report(noTargets, site.task.place.location).label(callsite.location, "the call");
    for (const MappedTarget& target : site.targets) {
      Entry* entry = find(target.instance.text);
      if (!entry || entry->resolved.task != callsite.callee) {
        std::vector<std::string> names;
        for (const Entry& each : all_)
          if (each.resolved.task == callsite.callee)
            names.push_back(each.resolved.name);
        DiagnosticBuilder builder = diagnostics_.report(unknownTarget, target.instance.place.location,
                                                        callsite.callee->name, target.instance.text);
        builder.label(callsite.location, "the call");
        suggest(builder, target.instance.text, names);
        continue;
      }
      unsupported(target.dynamic, target.instance.place.location, "a dynamic call");
      for (const MappedName& name : target.forcedCopies)
        unsupported(array(name).has_value(), name.place.location, "a forced copy");
      ResolvedTarget result;
      result.instance = indexOf(*entry);
      for (const TargetCondition& condition : target.conditions) {
        if (!condition.array) {
          unsupported(true, condition.bound.place.location, "a condition on instantiations");
        } else if (auto index = array(*condition.array)) {
          const Variable& declared = *current_->resolved.variant->arrays[*index];
          if (rank(condition.bound, declared))
            result.conditions.push_back({&declared, condition.bound});
        }
      }
      resolved.targets.push_back(std::move(result));
    }
  }

  /// A combiner that the mapping does not mention is called as its only instance; every other callsite must be written.
  void onlyTarget(const Callsite& site, ResolvedCallsite& resolved) {
    std::vector<uint32_t> candidates;
    for (uint32_t i = 0; i < all_.size(); ++i)
      if (all_[i].resolved.task == site.callee)
        candidates.push_back(i);
    if (site.isCombiner && candidates.size() == 1) {
      resolved.targets.push_back({candidates[0], {}});
      return;
    }
    diagnostics_
        .report(missingCallsite, current_->mapped->name.place.location, current_->resolved.name, site.callee->name)
        .label(site.location, site.isCombiner ? "the combining task" : "the call")
        .help("write callsite " + std::string(site.callee->name) + "() { target INSTANCE() { } } in a control block");
  }

  void reportUnreached() {
    std::vector<char> reached(all_.size());
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < all_.size(); ++i)
      if (all_[i].isEntryPoint)
        open.push_back(i);
    while (!open.empty()) {
      uint32_t index = open.back();
      open.pop_back();
      if (std::exchange(reached[index], 1))
        continue;
      for (const ResolvedCallsite& site : all_[index].resolved.callsites)
        for (const ResolvedTarget& target : site.targets)
          open.push_back(target.instance);
    }
    for (uint32_t i = 0; i < all_.size(); ++i)
      if (!reached[i])
        diagnostics_.report(unreached, all_[i].resolved.place, all_[i].resolved.name);
  }

  /// Breadth first from the entry, so that numbers do not depend on the order in the file.
  InstanceGraph reachable(uint32_t entry) {
    InstanceGraph graph;
    std::vector<uint32_t> order = {entry};
    std::vector<uint32_t> numbers(all_.size(), UINT32_MAX);
    numbers[entry] = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      for (ResolvedCallsite& site : all_[order[i]].resolved.callsites) {
        for (ResolvedTarget& target : site.targets) {
          if (numbers[target.instance] == UINT32_MAX) {
            numbers[target.instance] = static_cast<uint32_t>(order.size());
            order.push_back(target.instance);
          }
          target.instance = numbers[target.instance];
        }
      }
    }
    for (uint32_t index : order)
      graph.instances.push_back(std::move(all_[index].resolved));
    return graph;
  }

  const Program& program_;
  const Mapping& mapping_;
  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  std::deque<Entry> all_;
  Entry* current_ = nullptr;
};

} // namespace

std::optional<InstanceGraph> resolve(const Program& program, const Mapping& mapping, const Machine& machine,
                                     std::string_view entry, DiagnosticEngine& diagnostics) {
  return Resolver(program, mapping, machine, diagnostics).run(entry);
}

} // namespace strata::sequoia
