// The fingerprint of a processor array: FNV-1a with 64 bits over its fields in the order of machine.h. Rows, columns
// and where it was described are left out.
#include "runtime/array/symbolic.h"

namespace strata::array {

namespace {

class Hash {
public:
  void add(uint64_t value) {
    for (int byte = 0; byte < 8; ++byte)
      add(static_cast<uint8_t>(value >> (8 * byte)));
  }
  void add(const std::string& text) {
    add(uint64_t{text.size()});
    for (const char c : text)
      add(static_cast<uint8_t>(c));
  }
  void add(const machine::Port& port) {
    add(static_cast<uint64_t>(port.side));
    add(uint64_t{port.index});
  }
  void add(const machine::InterconnectLayer& layer) {
    for (const uint64_t count : layer.inputs)
      add(count);
    for (const uint64_t count : layer.outputs)
      add(count);
    add(uint64_t{layer.fullyAdjacent});
    add(uint64_t{layer.adjacent.size()});
    for (const machine::Adjacency& pair : layer.adjacent) {
      add(pair.source);
      add(pair.sink);
    }
    add(layer.hop);
  }
  uint64_t value() const { return value_; }

private:
  void add(uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001B3u; }
  uint64_t value_ = 0xCBF29CE484222325u;
};

} // namespace

uint64_t fingerprint(const machine::ProcessorArray& array) {
  Hash hash;
  hash.add(array.word);
  hash.add(uint64_t{array.units.size()});
  for (const machine::FunctionalUnit& unit : array.units) {
    hash.add(unit.name);
    hash.add(unit.count);
    hash.add(uint64_t{unit.operations.size()});
    for (const machine::Operation& operation : unit.operations) {
      hash.add(operation.name);
      hash.add(operation.latency);
      hash.add(operation.interval);
    }
    hash.add(unit.instructions);
  }
  const machine::Registers& registers = array.registers;
  for (const uint64_t count : {registers.general, registers.feedback, registers.feedbackDepth, registers.input,
                               registers.inputDepth, registers.output, registers.control})
    hash.add(count);
  for (const uint64_t count : {array.destinations, array.flags, array.branchTargets, array.branchSignals})
    hash.add(count);
  hash.add(array.data);
  hash.add(array.control);
  hash.add(uint64_t{array.controllers.size()});
  for (const machine::Corner corner : array.controllers)
    hash.add(static_cast<uint64_t>(corner));
  hash.add(array.controllerSignals);
  hash.add(array.controllerDimensions);
  for (const machine::Border& border : array.borders) {
    hash.add(border.banks);
    hash.add(border.capacity);
    hash.add(border.dimensions);
  }
  return hash.value();
}

} // namespace strata::array
