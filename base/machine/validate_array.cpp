// The rules of processor arrays; see validate_array.h. Ports follow the tightly coupled processor array: an output at
// one side of a wrapper is wired to the input of the same index at the opposite side of the neighbour.
#include "base/machine/validate_array.h"
#include "base/machine/quantity.h"

#include <set>

namespace strata::machine {

STRATA_DIAGNOSTIC(
    arraySize, Error, "machine-array-size",
    "array '{0}' has {1} rows and {2} columns; each is at least 1, and at most {3} elements are supported");
STRATA_DIAGNOSTIC(arrayWord, Error, "machine-array-word", "a register of {0} bytes; 1, 2, 4 and 8 are possible");
STRATA_DIAGNOSTIC(arrayUnits, Error, "machine-array-units", "{0}");
STRATA_DIAGNOSTIC(arrayUnitName, Error, "machine-array-unit-name",
                  "functional unit '{0}' is described twice, or its name is not a word");
STRATA_DIAGNOSTIC(arrayOperation, Error, "machine-array-operation",
                  "operation '{0}' has latency {1} and interval {2}; both are 1 to {3}");
STRATA_DIAGNOSTIC(arrayRegisters, Error, "machine-array-registers", "{0}");
STRATA_DIAGNOSTIC(arraySiblings, Error, "machine-array-siblings",
                  "{0} layer: {1} outputs at the {2} face {3} inputs at the {4} of the neighbour");
STRATA_DIAGNOSTIC(arrayAdjacency, Error, "machine-array-adjacency", "{0} layer: '{1}' connects {2}");
STRATA_DIAGNOSTIC(arrayHop, Error, "machine-array-hop", "{0} layer: a hop of {1} cycles; 1 to {2} are possible");
STRATA_DIAGNOSTIC(
    arrayBranches, Error, "machine-array-branches",
    "branches of {0} targets that test {1} signals; at least 2 targets and 1 signal are needed, at most {2}");
STRATA_DIAGNOSTIC(arrayDestinations, Error, "machine-array-destinations",
                  "instructions that write to {0} registers; 1 to {1} are possible");
STRATA_DIAGNOSTIC(arrayFlags, Error, "machine-array-flags", "an element of {0} flags; at most {1} are possible");
STRATA_DIAGNOSTIC(arrayController, Error, "machine-array-controller", "{0}");
STRATA_DIAGNOSTIC(arrayBorder, Error, "machine-array-border", "the {0} border: {1}");

namespace {

constexpr uint64_t mostElements = 1 << 20;
constexpr uint64_t mostPerElement = 1024; // registers, ports, banks or units of one kind in one element
constexpr uint64_t longestTime = 1 << 20; // cycles
constexpr const char* tooManyInElement = "more than 1024 of one kind in one element";

bool isWord(std::string_view name) {
  if (name.empty() || name.size() > 64)
    return false;
  for (char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
      return false;
  return !(name[0] >= '0' && name[0] <= '9');
}

void checkUnits(const ProcessorArray& array, DiagnosticEngine& diagnostics) {
  if (array.units.empty())
    diagnostics.report(arrayUnits, array.origin.of("units"), "an array without functional units");
  std::set<std::string> names;
  for (const FunctionalUnit& unit : array.units) {
    if (!isWord(unit.name) || !names.insert(unit.name).second)
      diagnostics.report(arrayUnitName, unit.origin.location, unit.name);
    if (unit.count == 0 || unit.count > mostPerElement)
      diagnostics.report(arrayUnits, unit.origin.of("count"), "a functional unit occurs 1 to 1024 times in an element");
    if (unit.instructions == 0)
      diagnostics.report(arrayUnits, unit.origin.of("instructions"), "a functional unit needs an instruction memory")
          .help("give the number of its slots: 'instructions: 64'");
    if (unit.operations.empty())
      diagnostics.report(arrayUnits, unit.origin.of("operations"), "a functional unit without operations");
    for (const Operation& operation : unit.operations)
      if (operation.latency == 0 || operation.interval == 0 || operation.latency > longestTime ||
          operation.interval > longestTime)
        diagnostics.report(arrayOperation, operation.origin.location, operation.name, operation.latency,
                           operation.interval, longestTime);
  }
}

void checkRegisters(const ProcessorArray& array, DiagnosticEngine& diagnostics) {
  const Registers& registers = array.registers;
  for (uint64_t count : {registers.general, registers.feedback, registers.input, registers.output, registers.control})
    if (count > mostPerElement)
      diagnostics.report(arrayRegisters, registers.origin.location, tooManyInElement);
  if (registers.feedback != 0 && (registers.feedbackDepth == 0 || registers.feedbackDepth > longestTime))
    diagnostics.report(arrayRegisters, registers.origin.of("feedback_depth"), "feedback FIFOs need a depth")
        .help("give the values that one holds: 'feedback_depth: 32'");
  if (registers.input != 0 && (registers.inputDepth == 0 || registers.inputDepth > longestTime))
    diagnostics.report(arrayRegisters, registers.origin.of("input_depth"), "input FIFOs need a depth")
        .help("give the values that one holds: 'input_depth: 16'");
}

/// Ports of one location: those that bring data into the switch (sources) or take it out (sinks).
struct Ports {
  uint64_t sources, sinks;
};

Ports portsAt(const InterconnectLayer& layer, Side side, uint64_t elementOutputs, uint64_t elementInputs) {
  if (side == Side::Element)
    return {elementOutputs, elementInputs};
  return {layer.inputs[static_cast<size_t>(side)], layer.outputs[static_cast<size_t>(side)]};
}

void checkLayer(const char* name, const InterconnectLayer& layer, uint64_t elementOutputs, uint64_t elementInputs,
                DiagnosticEngine& diagnostics) {
  if (layer.hop == 0 || layer.hop > longestTime)
    diagnostics.report(arrayHop, layer.origin.of("hop"), name, layer.hop, longestTime);
  for (size_t side = 0; side < layer.outputs.size(); ++side) {
    const size_t opposite = (side + 2) % 4;
    if (layer.outputs[side] != layer.inputs[opposite])
      diagnostics
          .report(arraySiblings, layer.origin.of("outputs"), name, layer.outputs[side], sideNames()[side],
                  layer.inputs[opposite], sideNames()[opposite])
          .label(layer.origin.of("inputs"), "the inputs")
          .note("every element is the same, so each output must meet an input of the same index");
    if (layer.outputs[side] > mostPerElement || layer.inputs[side] > mostPerElement)
      diagnostics.report(arrayRegisters, layer.origin.location, tooManyInElement);
  }
  std::set<std::pair<Port, Port>> seen;
  for (const Adjacency& pair : layer.adjacent) {
    const char* problem = nullptr;
    if (pair.source.index >= portsAt(layer, pair.source.side, elementOutputs, elementInputs).sources)
      problem = "from a port that does not exist";
    else if (pair.sink.index >= portsAt(layer, pair.sink.side, elementOutputs, elementInputs).sinks)
      problem = "to a port that does not exist";
    else if (!seen.insert({pair.source, pair.sink}).second)
      problem = "what is connected already";
    if (problem)
      diagnostics.report(arrayAdjacency, layer.origin.of("adjacent"), name, formatAdjacency(pair), problem);
  }
}

void checkControllers(const ProcessorArray& array, DiagnosticEngine& diagnostics) {
  const Location where = array.origin.of("controllers");
  std::set<Corner> corners(array.controllers.begin(), array.controllers.end());
  if (corners.size() != array.controllers.size())
    diagnostics.report(arrayController, where, "a corner has one controller at most");
  if (array.controllers.empty())
    diagnostics.report(arrayController, where, "an array without a controller cannot start a program")
        .help("name a corner: 'controllers: {corners: [north-west], signals: 8, dimensions: 4}'");
  else if (array.controllerSignals == 0 || array.controllerDimensions == 0 ||
           array.controllerSignals > mostPerElement || array.controllerDimensions > mostPerElement)
    diagnostics.report(arrayController, where, "a controller makes 1 to 1024 signals in 1 to 1024 dimensions");
}

} // namespace

void validateArray(const Processor& processor, const ProcessorArray& array, DiagnosticEngine& diagnostics) {
  uint64_t elements = 0;
  if (array.rows == 0 || array.columns == 0 || __builtin_mul_overflow(array.rows, array.columns, &elements) ||
      elements > mostElements)
    diagnostics.report(arraySize, array.origin.of("rows"), processor.name, array.rows, array.columns, mostElements);
  if (array.word != 1 && array.word != 2 && array.word != 4 && array.word != 8)
    diagnostics.report(arrayWord, array.origin.of("word"), array.word);
  checkUnits(array, diagnostics);
  checkRegisters(array, diagnostics);
  // Data ports of an element are its output and input registers; control reaches its control registers only.
  checkLayer("data", array.data, array.registers.output, array.registers.input, diagnostics);
  checkLayer("control", array.control, 0, array.registers.control, diagnostics);
  if (array.branchTargets < 2 || array.branchSignals == 0 || array.branchTargets > mostPerElement ||
      array.branchSignals > mostPerElement)
    diagnostics.report(arrayBranches, array.origin.of("branch"), array.branchTargets, array.branchSignals,
                       mostPerElement);
  if (array.destinations == 0 || array.destinations > mostPerElement)
    diagnostics.report(arrayDestinations, array.origin.of("destinations"), array.destinations, mostPerElement);
  if (array.flags > mostPerElement)
    diagnostics.report(arrayFlags, array.origin.of("flags"), array.flags, mostPerElement);
  checkControllers(array, diagnostics);
  for (size_t side = 0; side < array.borders.size(); ++side) {
    const Border& border = array.borders[side];
    const char* problem = nullptr;
    if (border.banks > mostPerElement)
      problem = tooManyInElement;
    else if (border.banks != 0 && border.capacity < array.word)
      problem = "a bank that does not hold one word";
    else if (border.banks != 0 && (border.dimensions == 0 || border.dimensions > mostPerElement))
      problem = "an address generator needs 1 to 1024 dimensions";
    if (problem)
      diagnostics.report(arrayBorder, border.origin.location, sideNames()[side], problem);
  }
}

} // namespace strata::machine
