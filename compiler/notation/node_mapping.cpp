// Read and written as YAML.
#include "compiler/notation/node_mapping.h"

#include "base/machine/fields.h"

namespace strata::notation {

STRATA_DIAGNOSTIC(mappedTwice, Error, "map-node-twice", "node '{0}' is mapped twice");

const MappedNode* NodeMapping::of(const std::string& node) const {
  for (const MappedNode& each : nodes)
    if (each.node == node)
      return &each;
  return nullptr;
}

static MappedNode readNode(DiagnosticEngine& diagnostics, const machine::YamlNode& node) {
  MappedNode mapped;
  machine::Fields fields(diagnostics, node, "the mapping of a node");
  mapped.place = node.location;
  if (const machine::YamlNode* name = fields.need("node"))
    mapped.place = name->location;
  fields.text("node", mapped.node);
  if (const machine::YamlNode* processor = fields.get("processor"))
    mapped.processorPlace = processor->location;
  fields.text("processor", mapped.processor);
  if (const machine::YamlNode* block = fields.get("block"))
    mapped.blockPlace = block->location;
  for (const machine::YamlNode* word : fields.words("block")) {
    const bool isNumber = !word->text.empty() && word->text.size() < 10 &&
                          word->text.find_first_not_of("0123456789") == std::string::npos;
    if (isNumber && std::stol(word->text) > 0)
      mapped.block.push_back(std::stol(word->text));
    else
      fields.wrong(*word, "block", "numbers of instances, from 1 to 999999999");
  }
  return mapped;
}

std::string text(const NodeMapping& mapping) {
  std::string text = mapping.machine.empty() ? "" : "machine: " + mapping.machine + "\n";
  text += "nodes:\n";
  for (const MappedNode& node : mapping.nodes) {
    text += "  - node: " + node.node + "\n";
    if (!node.processor.empty())
      text += "    processor: " + node.processor + "\n";
    std::string numbers;
    for (const int64_t each : node.block)
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(each);
    if (!numbers.empty())
      text += "    block: [" + numbers + "]\n";
  }
  return text;
}

std::optional<NodeMapping> readNodeMapping(DiagnosticEngine& diagnostics, BufferId text) {
  const unsigned before = diagnostics.errorCount();
  const auto root = machine::readYaml(diagnostics, text);
  if (!root)
    return std::nullopt;
  NodeMapping mapping;
  {
    machine::Fields fields(diagnostics, *root, "a mapping of nodes");
    if (const machine::YamlNode* name = fields.get("machine"))
      mapping.machinePlace = name->location;
    fields.text("machine", mapping.machine);
    if (const auto* nodes = fields.list("nodes"))
      for (const machine::YamlNode& node : *nodes) {
        MappedNode mapped = readNode(diagnostics, node);
        if (const MappedNode* other = mapping.of(mapped.node))
          diagnostics.report(mappedTwice, mapped.place, mapped.node).label(other->place, "here too");
        else
          mapping.nodes.push_back(std::move(mapped));
      }
  }
  return diagnostics.errorCount() == before ? std::optional(std::move(mapping)) : std::nullopt;
}

} // namespace strata::notation
