// Writes the XML form of a mapping, as a tree that pugixml prints.
#include "compiler/sequoia/mapping/mapping_forms.h"

#include <pugixml.hpp>

#include <sstream>

namespace strata::sequoia {

namespace {

using Node = pugi::xml_node;

class XmlWriter {
public:
  std::string run(const Mapping& mapping) {
    pugi::xml_document document;
    Node declaration = document.append_child(pugi::node_declaration);
    declaration.append_attribute("version") = "1.0";
    Node root = document.append_child("mapping");
    remark(root, mapping.remark);
    if (!mapping.machine.empty())
      root.append_child("machine").append_attribute("filename") = mapping.machine.c_str();
    std::vector<MappedName> entries;
    for (const MappedTask& task : mapping.tasks)
      entries.insert(entries.end(), task.entryPoints.begin(), task.entryPoints.end());
    for (const MappedName& entry : entries)
      remark(root, entry.remark);
    if (!entries.empty())
      content(root, "entrypoints", listText(entries));
    for (const MappedTask& task : mapping.tasks) {
      Node node = named(root, "taskmapping", task.name);
      for (const MappedInstance& each : task.instances)
        instance(node, each);
    }
    std::ostringstream text;
    document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
    return text.str();
  }

private:
  /// Comments before an item. Two hyphens would end them.
  static void remark(Node parent, const Remark& remark) {
    std::string text;
    for (char c : remark.text)
      text += c == '-' && text.ends_with('-') ? std::string(" -") : std::string(1, c);
    if (!text.empty())
      parent.append_child(pugi::node_comment).set_value((" " + text + " ").c_str());
  }
  static Node named(Node parent, const char* element, const MappedName& name) {
    remark(parent, name.remark);
    Node node = parent.append_child(element);
    node.append_attribute("name") = name.text.c_str();
    if (name.lexnum)
      node.append_attribute("lexnum") = *name.lexnum;
    return node;
  }
  static Node content(Node parent, const char* element, const std::string& text) {
    Node node = parent.append_child(element);
    node.text() = text.c_str();
    return node;
  }
  static void number(Node parent, const char* element, const OptionalNumber& value) {
    if (value)
      content(parent, element, numberText(*value));
  }
  static void sizes(Node parent, const char* element, const MappedName* name, const SizeBound& bound) {
    Node node = name ? named(parent, element, *name) : parent.append_child(element);
    node.append_attribute("type") = bound.relation == Relation::Less      ? "lt"
                                    : bound.relation == Relation::AtMost  ? "boundabove"
                                    : bound.relation == Relation::AtLeast ? "boundbelow"
                                    : bound.relation == Relation::Greater ? "gt"
                                                                          : "exact";
    node.text() = listText(bound.values).c_str();
  }

  static void instance(Node parent, const MappedInstance& instance) {
    Node node = named(parent, "instance", instance.name);
    content(node, "variant", instance.variant.text);
    if (!instance.externalFile.empty())
      content(node, "filename", instance.externalFile);
    if (instance.uniqueOverlay)
      node.append_child("cellforceuniqueoverlay");
    number(node, "level", instance.level);
    for (const MappedTunable& each : instance.tunables)
      named(node, each.isDivisor ? "divisor" : "tunable", each.name).text() = numberText(each.value).c_str();
    number(node, "scratch", instance.scratch);
    for (const DataMapping& each : instance.data)
      data(node.append_child("data"), each);
    for (const ControlMapping& each : instance.control)
      control(node.append_child("ctrl"), each);
  }

  static void data(Node node, const DataMapping& data) {
    number(node, "level", data.level);
    if (!data.spaceShare.empty())
      content(node, "spaceshare", listText(data.spaceShare));
    for (const MappedArray& each : data.arrays) {
      Node array = named(node, "array", each.name);
      number(array, "level", each.level);
      for (const SizeBound& bound : each.elements)
        sizes(array, "arraynumelmtprecond", nullptr, bound);
      for (const SizeBound& bound : each.pitch)
        sizes(array, "arraypitchprecond", nullptr, bound);
      if (!each.blockCyclic)
        continue;
      Node layout = array.append_child("blockcyclic");
      if (!each.blockCyclic->grid.empty())
        content(layout, "grid", listText(each.blockCyclic->grid));
      if (!each.blockCyclic->blockSize.empty())
        content(layout, "blocksize", listText(each.blockCyclic->blockSize));
    }
  }

  static void control(Node node, const ControlMapping& control) {
    number(node, "level", control.level);
    for (const MappedLoop& each : control.loops)
      loop(named(node, "loop", each.name), each);
    for (const MappedCallsite& each : control.callsites) {
      Node site = named(node, "callsite", each.task);
      for (const MappedTarget& target : each.targets)
        condition(named(site, "target", target.instance), target);
    }
  }

  static void loop(Node node, const MappedLoop& loop) {
    number(node, "level", loop.level);
    number(node, "swp", loop.pipelineStages);
    number(node, "unroll", loop.unroll);
    if (loop.flat)
      node.append_child("flatten");
    if (!loop.spmd)
      return;
    Node spmd = node.append_child("spmd");
    if (loop.spmd->fullRange)
      content(spmd, "fullrange", listText(std::vector{loop.spmd->fullRange->first, loop.spmd->fullRange->second}));
    number(spmd, "ways", loop.spmd->ways);
    if (loop.spmd->waysAuto)
      content(spmd, "ways", "auto");
    number(spmd, "iterblk", loop.spmd->iterationBlock);
  }

  static void condition(Node node, const MappedTarget& target) {
    for (const TargetCondition& condition : target.conditions) {
      if (condition.array) {
        sizes(node, "arraysizecond", &*condition.array, condition.bound);
        continue;
      }
      static constexpr const char* types[] = {"lt", "leq", "eq", "geq", "gt"};
      Node count = node.append_child("numinstcond");
      count.append_attribute("type") = types[static_cast<size_t>(condition.bound.relation)];
      count.text() = listText(condition.bound.values).c_str();
    }
    if (target.dynamic)
      node.append_child("forcedynamiccall");
    for (const MappedName& each : target.forcedCopies)
      named(node, "forcecopy", each);
  }
};

} // namespace

std::string writeXml(const Mapping& mapping) {
  return XmlWriter().run(mapping);
}

} // namespace strata::sequoia
