// Walks the tasks that the entry reaches and lists what a mapping can say about each of their variants.
#include "compiler/sequoia/tune/template_mapping.h"

#include "compiler/sequoia/tune/default_mapping.h"

#include <algorithm>

namespace strata::sequoia {

namespace {

class TemplateBuilder {
public:
  explicit TemplateBuilder(const Machine& machine) : machine_(machine) {}

  Mapping run(const Task& entry) {
    mapping_.machine = machine_.name;
    mapping_.remark.text = "A mapping to be filled in: a value for every question mark. Instances that nothing calls "
                           "are to be taken out,\nand further ones of the same variants may be added. Levels of "
                           "machine '" +
                           machine_.name + "': " + levels();
    std::vector<const Task*> tasks = reachedFrom(entry);
    for (const Task* task : tasks)
      mapping_.tasks.push_back(mapTask(*task));
    MappedName point = choice(entry);
    if (!point.remark.text.empty())
      point.remark.text = "the entry point: " + point.remark.text;
    mapping_.tasks[0].entryPoints.push_back(std::move(point));
    return std::move(mapping_);
  }

private:
  std::string levels() const {
    std::string text;
    for (size_t level = 0; level < machine_.levels.size(); ++level) {
      const machine::Level& each = machine_.levels[level];
      text += (level ? ", " : "") + std::to_string(level) + " is " + machine_[each.memory].name;
      if (each.processor.valid())
        text += " with " + machine_[each.processor].name;
    }
    return text;
  }

  static std::vector<const Task*> reachedFrom(const Task& entry) {
    std::vector<const Task*> tasks = {&entry};
    for (size_t i = 0; i < tasks.size(); ++i)
      for (const TaskVariant* variant : tasks[i]->variants)
        for (const Callsite* site : variant->callsites)
          if (std::find(tasks.begin(), tasks.end(), site->callee) == tasks.end())
            tasks.push_back(site->callee);
    return tasks;
  }

  static std::string nameOf(const TaskVariant& variant) {
    return std::string(variant.taskName) + "_" + std::string(variant.name);
  }
  /// The instance of a task, where it has one only, else a blank.
  static MappedName choice(const Task& task) {
    MappedName name;
    if (task.variants.size() == 1) {
      name.text = nameOf(*task.variants[0]);
      return name;
    }
    name.text = "?";
    for (const TaskVariant* variant : task.variants)
      name.remark.text += (name.remark.text.empty() ? "one of " : ", ") + nameOf(*variant);
    return name;
  }
  static MappedName named(std::string_view text, const auto& list, uint32_t lexnum, auto nameOfEach) {
    MappedName name;
    name.text = text;
    if (std::count_if(list.begin(), list.end(), [&](const auto* each) { return nameOfEach(each) == text; }) > 1)
      name.lexnum = lexnum;
    return name;
  }
  static MappedNumber blank() { return {0, {}, true}; }
  /// On a machine of one level there is nothing to choose.
  OptionalNumber blankLevel() const { return machine_.levels.size() > 1 ? OptionalNumber(blank()) : std::nullopt; }

  MappedTask mapTask(const Task& task) const {
    MappedTask mapped;
    mapped.name.text = task.name;
    for (const TaskVariant* variant : task.variants)
      mapped.instances.push_back(instance(*variant));
    return mapped;
  }

  MappedInstance instance(const TaskVariant& variant) const {
    static auto nameOfVariable = [](const Variable* each) { return each->name; };
    MappedInstance mapped;
    mapped.name.text = nameOf(variant);
    mapped.name.remark.text = taskKindText(variant.kind);
    mapped.variant.text = variant.name;
    mapped.level = blankLevel();
    if (variant.kind == TaskKind::External) {
      mapped.externalFile = "?";
      mapped.name.remark.text += ": the file that has it; scratch, in bytes, if it needs local space";
    }
    for (const Variable* tunable : variant.tunables)
      mapped.tunables.push_back({named(tunable->name, variant.tunables, tunable->lexnum, nameOfVariable), blank()});
    if (!variant.arrays.empty()) {
      DataMapping& data = mapped.data.emplace_back();
      for (const Variable* array : variant.arrays) {
        MappedArray& each = data.arrays.emplace_back();
        each.name = named(array->name, variant.arrays, array->lexnum, nameOfVariable);
        each.name.remark.text = describe(*array);
        each.level = blankLevel();
      }
    }
    if (variant.loops.empty() && variant.callsites.empty())
      return mapped;
    ControlMapping& control = mapped.control.emplace_back();
    for (const Loop* loop : variant.loops) {
      MappedLoop& each = control.loops.emplace_back();
      each.name =
          named(loop->variableName, variant.loops, loop->lexnum, [](const Loop* other) { return other->variableName; });
      each.name.remark.text = std::string(mapText(loop->kind)) + (loop->kind == MapKind::Seq
                                                                      ? ": it can be given unroll and flat"
                                                                      : ": it can be given spmd, swp, unroll and flat");
      each.level = blankLevel();
    }
    for (const Callsite* site : variant.callsites) {
      MappedCallsite& each = control.callsites.emplace_back();
      each.task = named(site->callee->name, variant.callsites, site->lexnum,
                        [](const Callsite* other) { return other->callee->name; });
      if (site->isCombiner)
        each.task.remark.text = "the combining task of a mapreduce";
      MappedTarget target;
      target.instance = choice(*site->callee);
      if (!target.instance.remark.text.empty())
        target.instance.remark.text += "; of several targets the first whose conditions hold is called";
      each.targets.push_back(std::move(target));
    }
    return mapped;
  }

  static std::string describe(const Variable& array) {
    std::string text = array.kind == VariableKind::Parameter ? directionText(array.direction) : "local";
    return text + " " + typeName(array.type) + ", " + std::to_string(array.extents.size()) +
           (array.extents.size() == 1 ? " dimension" : " dimensions");
  }

  const Machine& machine_;
  Mapping mapping_;
};

} // namespace

std::optional<Mapping> templateMapping(const Program& program, const Machine& machine, const AskedEntry& entry,
                                       DiagnosticEngine& diagnostics) {
  const Task* task = entryTask(program, entry, diagnostics);
  return task ? std::optional(TemplateBuilder(machine).run(*task)) : std::nullopt;
}

} // namespace strata::sequoia
