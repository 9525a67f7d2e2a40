// Reads the description of a processor array from its part of the tree; see read_array.h, and machine.h for what the
// fields mean. Whether they fit together is validate_array.cpp's question.
#include "base/machine/read_array.h"

namespace strata::machine {

namespace {

constexpr size_t sideCount = 4; // the sides of a wrapper, without the element inside

Operation readOperation(DiagnosticEngine& diagnostics, const YamlNode& name, const YamlNode& node) {
  Operation operation;
  operation.name = name.text;
  if (node.kind == YamlNode::Kind::Scalar) {
    // The short form: add: 2.
    if (const auto latency = parseCount(node.text))
      operation.latency = *latency;
    else
      Fields(diagnostics, YamlNode{YamlNode::Kind::Mapping, "", {}, {}, node.location}, "an operation")
          .wrong(node, name.text, "its latency in cycles");
    operation.origin.location = name.location;
    return operation;
  }
  Fields fields(diagnostics, node, "an operation");
  fields.count("latency", operation.latency);
  fields.count("interval", operation.interval);
  operation.origin = fields.origin();
  operation.origin.location = name.location;
  return operation;
}

FunctionalUnit readUnit(DiagnosticEngine& diagnostics, const YamlNode& node) {
  FunctionalUnit unit;
  Fields fields(diagnostics, node, "a functional unit");
  fields.text("name", unit.name);
  fields.count("count", unit.count);
  fields.count("instructions", unit.instructions);
  if (const YamlNode* operations = fields.need("operations")) {
    if (operations->kind != YamlNode::Kind::Mapping)
      fields.wrong(*operations, "operations", "a latency for each operation, as in 'add: 1'");
    for (size_t i = 0; i < operations->keys.size(); ++i)
      unit.operations.push_back(readOperation(diagnostics, operations->keys[i], operations->items[i]));
  }
  unit.origin = fields.origin();
  return unit;
}

Registers readRegisters(DiagnosticEngine& diagnostics, const YamlNode& node) {
  Registers registers;
  Fields fields(diagnostics, node, "the registers");
  fields.count("general", registers.general);
  fields.count("feedback", registers.feedback);
  fields.count("feedback_depth", registers.feedbackDepth);
  fields.count("input", registers.input);
  fields.count("input_depth", registers.inputDepth);
  fields.count("output", registers.output);
  fields.count("control", registers.control);
  registers.origin = fields.origin();
  return registers;
}

/// Ports by side, or one number for all four.
void readSides(Fields& fields, const char* name, std::array<uint64_t, sideCount>& ports) {
  const YamlNode* node = fields.get(name);
  if (!node)
    return;
  if (node->kind == YamlNode::Kind::Scalar) {
    if (const auto count = parseCount(node->text))
      ports.fill(*count);
    else
      fields.wrong(*node, name, "a number of ports, or one for each side");
    return;
  }
  Fields sides(fields.diagnostics(), *node, "the ports of a layer");
  for (size_t side = 0; side < sideCount; ++side)
    sides.count(sideNames()[side].c_str(), ports[side]);
}

InterconnectLayer readLayer(DiagnosticEngine& diagnostics, const YamlNode& node) {
  InterconnectLayer layer;
  Fields fields(diagnostics, node, "a layer of the interconnect");
  readSides(fields, "inputs", layer.inputs);
  readSides(fields, "outputs", layer.outputs);
  fields.count("hop", layer.hop);
  for (const YamlNode* pair : fields.words("adjacent")) {
    if (pair->text == "all")
      continue;
    layer.fullyAdjacent = false;
    if (const auto adjacency = parseAdjacency(pair->text))
      layer.adjacent.push_back(*adjacency);
    else
      fields.wrong(*pair, "adjacent", "'all' or pairs of ports such as 'west0 -> east0'");
  }
  // An empty list is a layer whose switch connects nothing.
  if (const YamlNode* list = fields.get("adjacent"); list && list->kind == YamlNode::Kind::List && list->items.empty())
    layer.fullyAdjacent = false;
  layer.origin = fields.origin();
  return layer;
}

Border readBorder(DiagnosticEngine& diagnostics, const YamlNode& node) {
  Border border;
  Fields fields(diagnostics, node, "the I/O buffer of a border");
  fields.count("banks", border.banks);
  fields.size("capacity", border.capacity);
  fields.count("dimensions", border.dimensions);
  border.origin = fields.origin();
  return border;
}

void readControllers(DiagnosticEngine& diagnostics, const YamlNode& node, ProcessorArray& array) {
  Fields fields(diagnostics, node, "the controllers");
  for (const YamlNode* word : fields.words("corners"))
    if (const auto corner = resolveName(diagnostics, *word, "corner", cornerNames()))
      array.controllers.push_back(static_cast<Corner>(*corner));
  fields.count("signals", array.controllerSignals);
  fields.count("dimensions", array.controllerDimensions);
}

} // namespace

ProcessorArray readArray(DiagnosticEngine& diagnostics, const YamlNode& node) {
  ProcessorArray array;
  Fields fields(diagnostics, node, "a processor array");
  fields.need("rows");
  fields.need("columns");
  fields.count("rows", array.rows);
  fields.count("columns", array.columns);
  fields.size("word", array.word);
  if (const std::vector<YamlNode>* units = fields.list("units"))
    for (const YamlNode& unit : *units)
      array.units.push_back(readUnit(diagnostics, unit));
  if (const YamlNode* registers = fields.need("registers"))
    array.registers = readRegisters(diagnostics, *registers);
  fields.count("destinations", array.destinations);
  fields.count("flags", array.flags);
  if (const YamlNode* branch = fields.get("branch")) {
    Fields branches(diagnostics, *branch, "the branches");
    branches.count("targets", array.branchTargets);
    branches.count("signals", array.branchSignals);
  }
  if (const YamlNode* data = fields.need("data"))
    array.data = readLayer(diagnostics, *data);
  if (const YamlNode* control = fields.need("control"))
    array.control = readLayer(diagnostics, *control);
  if (const YamlNode* controllers = fields.get("controllers"))
    readControllers(diagnostics, *controllers, array);
  if (const YamlNode* borders = fields.get("borders")) {
    Fields sides(diagnostics, *borders, "the borders");
    for (size_t side = 0; side < sideCount; ++side)
      if (const YamlNode* border = sides.get(sideNames()[side].c_str()))
        array.borders[side] = readBorder(diagnostics, *border);
  }
  array.origin = fields.origin();
  return array;
}

} // namespace strata::machine
