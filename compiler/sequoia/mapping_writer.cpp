// Writes the brace form of a mapping.
#include "compiler/sequoia/mapping.h"

namespace strata::sequoia {

namespace {

class Writer {
public:
  std::string run(const Mapping& mapping) {
    if (!mapping.machine.empty())
      text_ += "#include \"" + mapping.machine + "\"\n\n";
    for (const MappedTask& task : mapping.tasks) {
      std::string header = "task " + name(task.name);
      for (size_t i = 0; i < task.entryPoints.size(); ++i)
        header += (i == 0 ? ": entrypoint(" : " entrypoint(") + name(task.entryPoints[i]) + ")";
      open(header);
      for (const MappedInstance& each : task.instances)
        instance(each);
      close();
    }
    return std::move(text_);
  }

private:
  void line(const std::string& text) { text_ += std::string(indent_ * 2, ' ') + text + "\n"; }
  void open(const std::string& header) {
    line(header + " {");
    ++indent_;
  }
  void close() {
    --indent_;
    line("}");
  }
  static std::string name(const MappedName& name) {
    return name.text + (name.lexnum ? "[" + std::to_string(*name.lexnum) + "]" : "");
  }
  static std::string level(const OptionalNumber& level) {
    return level ? "(level " + std::to_string(level->value) + ")" : "()";
  }
  static std::string values(const std::vector<int64_t>& values) {
    std::string text;
    for (int64_t value : values)
      text += (text.empty() ? "" : ", ") + std::to_string(value);
    return text;
  }
  static std::string names(const std::vector<MappedName>& list) {
    std::string text;
    for (const MappedName& each : list)
      text += (text.empty() ? "" : ", ") + name(each);
    return text;
  }
  /// A bound on sizes knows three relations only.
  static std::string sizes(const SizeBound& bound) {
    const char* sign = bound.relation == Relation::AtMost ? "<" : bound.relation == Relation::AtLeast ? ">" : "=";
    return std::string(" ") + sign + " " + values(bound.values) + ";";
  }
  void number(const char* what, const OptionalNumber& value) {
    if (value)
      line(std::string(what) + " = " + std::to_string(value->value) + ";");
  }

  void instance(const MappedInstance& instance) {
    std::string header = "instance " + name(instance.name) + "::" + name(instance.variant) + level(instance.level);
    if (instance.uniqueOverlay)
      header += " : unique overlay";
    if (!instance.externalFile.empty())
      header += std::string(instance.uniqueOverlay ? "" : " :") + " external(\"" + instance.externalFile + "\")";
    open(header);
    for (const MappedTunable& each : instance.tunables)
      line("tunable " + name(each.name) + " = " + std::to_string(each.value.value) + ";");
    number("scratch", instance.scratch);
    for (const DataMapping& each : instance.data)
      data(each);
    for (const ControlMapping& each : instance.control)
      control(each);
    close();
  }

  void data(const DataMapping& data) {
    open("data" + level(data.level) + (data.spaceShare.empty() ? "" : " : spaceshare(" + names(data.spaceShare) + ")"));
    for (const MappedArray& each : data.arrays) {
      open("array " + name(each.name) + level(each.level));
      for (const SizeBound& bound : each.elements)
        line("elements" + sizes(bound));
      for (const SizeBound& bound : each.pitch)
        line("pitch" + sizes(bound));
      if (each.blockCyclic) {
        open("blockcyclic");
        if (!each.blockCyclic->grid.empty())
          line("grid = " + values(each.blockCyclic->grid) + ";");
        if (!each.blockCyclic->blockSize.empty())
          line("blocksize = " + values(each.blockCyclic->blockSize) + ";");
        close();
      }
      close();
    }
    close();
  }

  void control(const ControlMapping& control) {
    open("control" + level(control.level));
    for (const MappedLoop& each : control.loops)
      loop(each);
    for (const MappedCallsite& each : control.callsites) {
      open("callsite " + name(each.task) + "()");
      for (const MappedTarget& target : each.targets) {
        std::string header = "target " + name(target.instance) + "()";
        if (target.dynamic || !target.forcedCopies.empty())
          header += " :";
        if (target.dynamic)
          header += " dynamic";
        if (!target.forcedCopies.empty())
          header += " copy(" + names(target.forcedCopies) + ")";
        open(header);
        for (const TargetCondition& condition : target.conditions) {
          if (condition.array)
            line(name(*condition.array) + ".elements" + sizes(condition.bound));
          else
            line(std::string("instantiations ") + relationText(condition.bound.relation) + " " +
                 values(condition.bound.values) + ";");
        }
        close();
      }
      close();
    }
    close();
  }

  void loop(const MappedLoop& loop) {
    open("loop " + name(loop.name) + level(loop.level) + (loop.flat ? " : flat" : ""));
    number("swp", loop.pipelineStages);
    number("unroll", loop.unroll);
    if (loop.spmd) {
      open("spmd");
      if (loop.spmd->fullRange)
        line("fullrange = " + std::to_string(loop.spmd->fullRange->first) + "," +
             std::to_string(loop.spmd->fullRange->second) + ";");
      number("ways", loop.spmd->ways);
      if (loop.spmd->waysAuto)
        line("ways = auto;");
      number("iterblk", loop.spmd->iterationBlock);
      close();
    }
    close();
  }

  std::string text_;
  size_t indent_ = 0;
};

} // namespace

const char* relationText(Relation relation) {
  static constexpr const char* texts[] = {"<", "<=", "=", ">=", ">"};
  return texts[static_cast<size_t>(relation)];
}

const MappedInstance* Mapping::findInstance(std::string_view name, const MappedTask** task) const {
  for (const MappedTask& each : tasks) {
    for (const MappedInstance& instance : each.instances) {
      if (instance.name.text == name) {
        if (task)
          *task = &each;
        return &instance;
      }
    }
  }
  return nullptr;
}

std::string writeMapping(const Mapping& mapping) {
  return Writer().run(mapping);
}

} // namespace strata::sequoia
