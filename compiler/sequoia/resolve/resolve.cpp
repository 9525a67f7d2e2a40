// The instances of a mapping, its entry points, and the graph of what they reach.
#include "compiler/sequoia/resolve/check_levels.h"
#include "compiler/sequoia/resolve/resolve_loop.h"
#include "compiler/sequoia/resolve/resolver.h"

#include <algorithm>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(unknownTask, Error, "sequoia-mapping-task", "the program has no task named '{0}'");
STRATA_DIAGNOSTIC(unknownVariant, Error, "sequoia-mapping-variant", "task '{0}' has no variant named '{1}'");
STRATA_DIAGNOSTIC(duplicateInstance, Error, "sequoia-mapping-instance", "two instances are named '{0}'");
STRATA_DIAGNOSTIC(unknownTarget, Error, "sequoia-mapping-target", "no instance of task '{0}' is named '{1}'");
STRATA_DIAGNOSTIC(unknownEntry, Error, "sequoia-mapping-entry", "{0}");
STRATA_DIAGNOSTIC(unreached, Error, "sequoia-mapping-unreached", "instance '{0}' is reached from no entry point");

bool isLimited(const Machine& machine, unsigned level) {
  machine::MemoryId memory = machine.levels[level].memory;
  // Space on a disk is found, or not, when the program runs.
  return machine.isExplicit(memory) && !machine[memory].files &&
         machine.capacityOf(memory).kind == machine::Capacity::Kind::Bytes;
}

unsigned mainLevel(const Machine& machine) {
  unsigned outermost = static_cast<unsigned>(machine.levels.size()) - 1;
  if (machine[machine.levels[outermost].memory].files)
    return outermost; // whoever describes a disk has arrays to put there
  bool anyLimited = false;
  for (unsigned level = 0; level < machine.levels.size(); ++level)
    anyLimited |= isLimited(machine, level);
  for (unsigned level = 0; level < machine.levels.size() && anyLimited; ++level)
    if (!isLimited(machine, level) && !machine[machine.levels[level].memory].isVirtual())
      return level;
  return outermost;
}

std::optional<InstanceGraph> Resolver::run(const AskedEntry& entry) {
  unsigned before = diagnostics_.errorCount();
  if (machine_.levels.empty()) {
    level(MappedNumber{0, mapping_.machinePlace}, 0); // reports that there is none
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
  InstanceGraph graph = reachable(entries);
  findCounts(graph, diagnostics_);
  if (diagnostics_.errorCount() == before)
    checkLevels(graph, machine_, diagnostics_);
  if (diagnostics_.errorCount() != before)
    return std::nullopt;
  return graph;
}

void Resolver::collect() {
  for (const MappedTask& task : mapping_.tasks) {
    const Task* found = program_.findTask(task.name.text);
    if (!found) {
      std::vector<std::string> names;
      for (const Task& each : program_.tasks)
        names.emplace_back(each.name);
      DiagnosticBuilder builder = diagnostics_.report(unknownTask, task.name.place.location, task.name.text);
      suggest(builder, task.name.text, names);
      if (names.size() <= 8) {
        std::string all;
        for (const std::string& name : names)
          all += (all.empty() ? "'" : ", '") + name + "'";
        builder.note("its tasks are " + all);
      }
      failed_ = true;
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
        DiagnosticBuilder builder =
            diagnostics_.report(unknownVariant, instance.variant.place.location, task.name.text, instance.variant.text);
        if (found->prototype)
          builder.label(found->prototype->location, "the task");
        suggest(builder, instance.variant.text, names);
        if (nearestName(instance.variant.text, names).empty())
          offer(builder, "its variants are ", names);
        failed_ = true;
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

Resolver::Entry* Resolver::find(std::string_view name) {
  for (Entry& entry : all_)
    if (entry.mapped->name.text == name)
      return &entry;
  return nullptr;
}

void Resolver::noInstance(const MappedName& name, std::string_view task, const Location& call) {
  std::vector<std::string> names;
  for (const Entry& each : all_)
    if (each.resolved.task->name == task)
      names.push_back(each.resolved.name);
  DiagnosticBuilder builder = diagnostics_.report(unknownTarget, name.place.location, task, name.text);
  if (call.valid())
    builder.label(call, "the call");
  if (const Entry* other = find(name.text))
    builder.label(other->resolved.place, "this one is of task '" + std::string(other->resolved.task->name) + "'");
  if (nearestName(name.text, names).empty())
    offer(builder, "instances of '" + std::string(task) + "' are ", names);
  else
    suggest(builder, name.text, names);
}

uint32_t Resolver::indexOf(const Entry& entry) const {
  for (uint32_t i = 0; i < all_.size(); ++i)
    if (&all_[i] == &entry)
      return i;
  return 0;
}

/// The entry points asked for. All that the mapping has count for what is reached.
std::vector<uint32_t> Resolver::entryPoints(const AskedEntry& asked) {
  std::vector<uint32_t> entries;
  std::vector<std::string> names;
  bool anyNamed = false; // what is named and not there has been reported
  for (const MappedTask& task : mapping_.tasks) {
    anyNamed |= !task.entryPoints.empty();
    if (!program_.findTask(task.name.text))
      continue;
    for (const MappedName& name : task.entryPoints) {
      Entry* entry = find(name.text);
      if (!entry || entry->resolved.task->name != task.name.text) {
        if (entry || !failed_)
          noInstance(name, task.name.text, Location());
        continue;
      }
      entry->isEntryPoint = true;
      names.push_back(name.text);
      entries.push_back(indexOf(*entry));
    }
  }
  Location where = mapping_.tasks.empty() ? mapping_.machinePlace.location : mapping_.tasks[0].name.place.location;
  if (entries.empty() && anyNamed)
    return {}; // why the one that is named is none has been said
  if (entries.empty()) {
    diagnostics_.report(unknownEntry, where, "the mapping has no entry point")
        .help("write it behind the name of its task: task NAME : entrypoint(INSTANCE); in XML: <entrypoints> INSTANCE "
              "</entrypoints>");
    return {};
  }
  if (asked.name.empty())
    return asked.isEvery || entries.empty() ? entries : std::vector{entries.front()};
  std::vector<std::pair<std::string_view, Location>> wanted{{asked.name, asked.where}};
  wanted.insert(wanted.end(), asked.others.begin(), asked.others.end());
  std::vector<uint32_t> chosen;
  for (const auto& [name, place] : wanted) {
    auto isNamed = [&, name = name](uint32_t number) {
      return all_[number].resolved.name == name || all_[number].resolved.task->name == name;
    };
    auto found = std::find_if(entries.begin(), entries.end(), isNamed);
    if (found != entries.end()) {
      if (std::find(chosen.begin(), chosen.end(), *found) == chosen.end())
        chosen.push_back(*found);
      continue;
    }
    DiagnosticBuilder builder =
        diagnostics_.report(unknownEntry, place.valid() ? place : where,
                            "no entry point of the mapping is '" + std::string(name) + "' or an instance of it");
    if (place.valid())
      for (const MappedTask& task : mapping_.tasks)
        for (const MappedName& entry : task.entryPoints)
          builder.label(entry.place.location, "an entry point");
    suggest(builder, name, names);
    return {};
  }
  return chosen;
}

void Resolver::reportUnreached() {
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
      diagnostics_.report(unreached, all_[i].resolved.place, all_[i].resolved.name)
          .help("name it as a target of a callsite, or take it out");
}

/// Breadth first from the entry points, so that numbers do not depend on the order in the file.
InstanceGraph Resolver::reachable(const std::vector<uint32_t>& entries) {
  InstanceGraph graph;
  graph.entryCount = static_cast<uint32_t>(entries.size());
  std::vector<uint32_t> order = entries;
  std::vector<uint32_t> numbers(all_.size(), UINT32_MAX);
  for (uint32_t i = 0; i < entries.size(); ++i)
    numbers[entries[i]] = i;
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

std::optional<InstanceGraph> resolve(const Program& program, const Mapping& mapping, const Machine& machine,
                                     const AskedEntry& entry, DiagnosticEngine& diagnostics) {
  return Resolver(program, mapping, machine, diagnostics).run(entry);
}

} // namespace strata::sequoia
