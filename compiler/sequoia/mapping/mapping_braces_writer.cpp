// Writes the brace form of a mapping.
#include "compiler/sequoia/mapping/mapping_forms.h"

namespace strata::sequoia {

namespace {

class BraceWriter {
public:
  std::string run(const Mapping& mapping) {
    remark(mapping.remark);
    if (!mapping.machine.empty())
      text_ += "#include \"" + mapping.machine + "\"\n\n";
    for (const MappedTask& task : mapping.tasks) {
      std::string header = "task " + numberedName(task.name);
      for (size_t i = 0; i < task.entryPoints.size(); ++i)
        header += (i == 0 ? ": entrypoint(" : " entrypoint(") + numberedName(task.entryPoints[i]) + ")";
      for (const MappedName& entry : task.entryPoints)
        remark(entry.remark);
      remark(task.name.remark);
      open(header);
      for (const MappedInstance& each : task.instances)
        instance(each);
      close();
    }
    return std::move(text_);
  }

private:
  void line(const std::string& text) { text_ += std::string(indent_ * 2, ' ') + text + "\n"; }
  /// A remark stands in the lines before its item.
  void remark(const Remark& remark) {
    for (size_t begin = 0; begin < remark.text.size();) {
      size_t end = std::min(remark.text.find('\n', begin), remark.text.size());
      line("// " + remark.text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  void open(const std::string& header) {
    line(header + " {");
    ++indent_;
  }
  void close() {
    --indent_;
    line("}");
  }
  static std::string level(const OptionalNumber& level) { return level ? "(level " + numberText(*level) + ")" : "()"; }
  static std::string sizes(const SizeBound& bound) {
    return std::string(" ") + relationText(bound.relation) + " " + listText(bound.values) + ";";
  }
  void number(const char* what, const OptionalNumber& value) {
    if (value)
      line(std::string(what) + " = " + numberText(*value) + ";");
  }

  void instance(const MappedInstance& instance) {
    std::string header =
        "instance " + numberedName(instance.name) + "::" + numberedName(instance.variant) + level(instance.level);
    if (instance.uniqueOverlay)
      header += " : unique overlay";
    if (!instance.externalFile.empty())
      header += std::string(instance.uniqueOverlay ? "" : " :") + " external(\"" + instance.externalFile + "\")";
    remark(instance.name.remark);
    open(header);
    for (const MappedTunable& each : instance.tunables) {
      remark(each.name.remark);
      const std::string value = numberText(each.value);
      line("tunable " + numberedName(each.name) + " = " + (each.isDivisor ? "divisor(" + value + ")" : value) + ";");
    }
    number("scratch", instance.scratch);
    for (const DataMapping& each : instance.data)
      data(each);
    for (const ControlMapping& each : instance.control)
      control(each);
    close();
  }

  void data(const DataMapping& data) {
    open("data" + level(data.level) +
         (data.spaceShare.empty() ? "" : " : spaceshare(" + listText(data.spaceShare) + ")"));
    for (const MappedArray& each : data.arrays) {
      remark(each.name.remark);
      open("array " + numberedName(each.name) + level(each.level));
      for (const SizeBound& bound : each.elements)
        line("elements" + sizes(bound));
      for (const SizeBound& bound : each.pitch)
        line("pitch" + sizes(bound));
      if (each.blockCyclic) {
        open("blockcyclic");
        if (!each.blockCyclic->grid.empty())
          line("grid = " + listText(each.blockCyclic->grid) + ";");
        if (!each.blockCyclic->blockSize.empty())
          line("blocksize = " + listText(each.blockCyclic->blockSize) + ";");
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
      remark(each.task.remark);
      open("callsite " + numberedName(each.task) + "()");
      for (const MappedTarget& target : each.targets) {
        std::string header = "target " + numberedName(target.instance) + "()";
        if (target.dynamic || !target.forcedCopies.empty())
          header += " :";
        if (target.dynamic)
          header += " dynamic";
        if (!target.forcedCopies.empty())
          header += " copy(" + listText(target.forcedCopies) + ")";
        remark(target.instance.remark);
        open(header);
        for (const TargetCondition& condition : target.conditions) {
          if (condition.array)
            line(numberedName(*condition.array) + ".elements" + sizes(condition.bound));
          else
            line(std::string("instantiations ") + relationText(condition.bound.relation) + " " +
                 listText(condition.bound.values) + ";");
        }
        close();
      }
      close();
    }
    close();
  }

  void loop(const MappedLoop& loop) {
    remark(loop.name.remark);
    open("loop " + numberedName(loop.name) + level(loop.level) + (loop.flat ? " : flat" : ""));
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

std::string writeBraces(const Mapping& mapping) {
  return BraceWriter().run(mapping);
}

} // namespace strata::sequoia
