// Writes a machine in canonical form: every field in a fixed order, defaults left out, quantities in their largest
// exact unit. What is written depends on the model's content alone, so the content hash is taken of it.
#include "base/machine/quantity.h"

#include <cstdio>

namespace strata {

using namespace machine;

namespace {

/// A scalar as YAML reads it back: plain where that is unambiguous, else in double quotes.
std::string scalar(std::string_view text) {
  const auto plainCharacter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  const bool letterFirst = !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
  bool plain = letterFirst && text != "null" && text != "Null" && text != "NULL";
  for (char c : text)
    plain = plain && plainCharacter(c);
  if (plain)
    return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    char escape[8];
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      std::snprintf(escape, sizeof escape, "\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

class MachineWriter {
public:
  explicit MachineWriter(const Machine& machine) : machine_(machine) {}

  std::string write() {
    field(0, "machine", scalar(machine_.name));
    if (!machine_.about.empty())
      field(0, "about", scalar(machine_.about));
    if (machine_.clock != 0)
      field(0, "clock", formatClock(machine_.clock));
    if (!machine_.target.empty())
      field(0, "target", scalar(machine_.target));
    list("memories", machine_.memories, [&](const Memory& memory) { writeMemory(memory); });
    list("processors", machine_.processors, [&](const Processor& processor) { writeProcessor(processor); });
    list("fifos", machine_.fifos, [&](const Fifo& fifo) { writeFifo(fifo); });
    list("links", machine_.links, [&](const Link& link) { writeLink(link); });
    unsigned number = 0;
    list("levels", machine_.levels, [&](const Level& level) {
      item("level", std::to_string(number++));
      field(4, "memory", name(level.memory));
      if (level.processor.valid())
        field(4, "processor", name(level.processor));
    });
    return std::move(out_);
  }

private:
  void field(unsigned indent, std::string_view key, std::string_view value) {
    out_.append(indent, ' ').append(key).append(value.empty() ? ":" : ": ").append(value).append("\n");
  }
  /// The first field of a list's entry.
  void item(std::string_view key, std::string_view value) {
    out_.append("  - ").append(key).append(": ").append(value).append("\n");
  }
  void number(unsigned indent, std::string_view key, uint64_t value, uint64_t usual) {
    if (value != usual)
      field(indent, key, std::to_string(value));
  }
  void size(unsigned indent, std::string_view key, uint64_t value, uint64_t usual) {
    if (value != usual)
      field(indent, key, formatSize(value));
  }
  static std::string formatCount(uint64_t count) { return std::to_string(count); }
  void stated(std::string_view key, const std::optional<uint64_t>& value, std::string (*format)(uint64_t)) {
    if (value)
      field(4, key, format(*value));
  }
  template <typename List, typename Function>
  void list(const char* key, const List& items, Function function) {
    if (items.empty())
      return;
    out_ += '\n';
    field(0, key, "");
    for (const auto& entry : items)
      function(entry);
  }

  // Ids that name nothing are written as empty names, which do not read back: validate reports them first.
  std::string name(MemoryId id) const { return nameIn(machine_.memories, id.value); }
  std::string name(ProcessorId id) const { return nameIn(machine_.processors, id.value); }
  std::string name(FifoId id) const { return nameIn(machine_.fifos, id.value); }
  std::string name(LinkId id) const { return nameIn(machine_.links, id.value); }
  template <typename Element>
  static std::string nameIn(const std::vector<Element>& elements, uint32_t index) {
    return scalar(index < elements.size() ? elements[index].name : "");
  }

  template <typename Item, typename Function>
  static std::string flow(const std::vector<Item>& items, Function text) {
    std::string out = "[";
    for (const Item& each : items)
      out += (out.size() == 1 ? "" : ", ") + text(each);
    return out + "]";
  }
  template <typename Item>
  void names(unsigned indent, const char* key, const std::vector<Item>& ids) {
    if (!ids.empty())
      field(indent, key, flow(ids, [&](const Item& id) { return name(id); }));
  }

  void writeBandwidth(const Bandwidth& bandwidth) {
    if (bandwidth.stated())
      field(4, "bandwidth", formatBandwidth(bandwidth));
  }

  void writeMemory(const Memory& memory) {
    item("name", scalar(memory.name));
    if (memory.isVirtual())
      field(4, "over", name(memory.over));
    if (memory.capacity != Capacity())
      field(4, "capacity", formatCapacity(memory.capacity));
    number(4, "count", memory.count, 1);
    size(4, "width", memory.width, 1);
    size(4, "alignment", memory.alignment, 1);
    size(4, "unit", memory.unit, 1);
    number(4, "latency", memory.latency, 0);
    writeBandwidth(memory.bandwidth);
    if (memory.explicitly)
      field(4, "explicit", "true");
    if (memory.files)
      field(4, "files", "true");
    stated("line", memory.line, formatSize);
    stated("page", memory.page, formatSize);
    stated("large_page", memory.largePage, formatSize);
  }

  void writeProcessor(const Processor& processor) {
    item("name", scalar(processor.name));
    field(4, "kind", processorKindNames()[static_cast<size_t>(processor.kind)]);
    number(4, "count", processor.count, processor.grid.empty() ? 1 : ~uint64_t(0));
    if (!processor.grid.empty())
      field(4, "grid", flow(processor.grid, [](uint64_t extent) { return std::to_string(extent); }));
    if (processor.clock != 0)
      field(4, "clock", formatClock(processor.clock));
    if (!processor.target.empty())
      field(4, "target", scalar(processor.target));
    if (!processor.costs.empty())
      field(4, "costs", "");
    for (const auto& [operation, cycles] : processor.costs)
      field(6, scalar(operation), std::to_string(cycles));
    names(4, "masters", processor.masters);
    std::vector<std::string> kernels = processor.kernels;
    if (processor.userKernels)
      kernels.insert(kernels.begin(), "user");
    field(4, "kernels", flow(kernels, [](const std::string& kernel) { return scalar(kernel); }));
    number(4, "moves", processor.moves, 0);
    if (processor.isProcess)
      field(4, "process", "true");
    stated("vector", processor.vector, formatSize);
    stated("vector_registers", processor.vectorRegisters, formatCount);
    stated("vector_latency", processor.vectorLatency, formatCount);
    stated("operations", processor.operations, formatCount);
    stated("stores", processor.stores, formatCount);
    stated("memory_latency", processor.memoryLatency, formatCount);
    names(4, "local", processor.local);
    for (const ProcessorArray& array : processor.array)
      writeArray(array);
  }

  void writeFifo(const Fifo& fifo) {
    item("name", scalar(fifo.name));
    field(4, "capacity", formatSize(fifo.capacity));
    number(4, "count", fifo.count, 1);
    size(4, "width", fifo.width, 1);
    number(4, "latency", fifo.latency, 0);
    names(4, "writers", fifo.writers);
    names(4, "readers", fifo.readers);
  }

  void writeLink(const Link& link) {
    item("name", scalar(link.name));
    field(4, "ends",
          flow(link.ends, [&](const LinkEnd& end) { return std::visit([&](auto id) { return name(id); }, end); }));
    if (link.oneWay)
      field(4, "one_way", "true");
    number(4, "count", link.count, 1);
    number(4, "latency", link.latency, 0);
    writeBandwidth(link.bandwidth);
  }

  void writeArray(const ProcessorArray& array) {
    field(4, "array", "");
    field(6, "rows", std::to_string(array.rows));
    field(6, "columns", std::to_string(array.columns));
    size(6, "word", array.word, 4);
    if (!array.units.empty())
      field(6, "units", "");
    for (const FunctionalUnit& unit : array.units)
      writeUnit(unit);
    const Registers& registers = array.registers;
    field(6, "registers",
          "{general: " + std::to_string(registers.general) + ", feedback: " + std::to_string(registers.feedback) +
              ", feedback_depth: " + std::to_string(registers.feedbackDepth) +
              ", input: " + std::to_string(registers.input) + ", input_depth: " + std::to_string(registers.inputDepth) +
              ", output: " + std::to_string(registers.output) + ", control: " + std::to_string(registers.control) +
              "}");
    number(6, "destinations", array.destinations, 1);
    number(6, "flags", array.flags, 0);
    field(6, "branch",
          "{targets: " + std::to_string(array.branchTargets) + ", signals: " + std::to_string(array.branchSignals) +
              "}");
    writeLayer("data", array.data);
    writeLayer("control", array.control);
    field(6, "controllers", "");
    field(8, "corners",
          flow(array.controllers, [](Corner corner) { return cornerNames()[static_cast<size_t>(corner)]; }));
    field(8, "signals", std::to_string(array.controllerSignals));
    field(8, "dimensions", std::to_string(array.controllerDimensions));
    field(6, "borders", "");
    for (size_t side = 0; side < array.borders.size(); ++side)
      field(8, sideNames()[side],
            "{banks: " + std::to_string(array.borders[side].banks) +
                ", capacity: " + formatSize(array.borders[side].capacity) +
                ", dimensions: " + std::to_string(array.borders[side].dimensions) + "}");
  }

  void writeUnit(const FunctionalUnit& unit) {
    out_ += "        - name: " + scalar(unit.name) + "\n";
    number(10, "count", unit.count, 1);
    number(10, "instructions", unit.instructions, 0);
    field(10, "operations", unit.operations.empty() ? "{}" : "");
    for (const Operation& operation : unit.operations)
      field(12, scalar(operation.name),
            operation.interval == 1 ? std::to_string(operation.latency)
                                    : "{latency: " + std::to_string(operation.latency) +
                                          ", interval: " + std::to_string(operation.interval) + "}");
  }

  void writeLayer(const char* key, const InterconnectLayer& layer) {
    const auto sides = [](const std::array<uint64_t, 4>& ports) {
      std::string out = "{";
      for (size_t side = 0; side < ports.size(); ++side)
        out += (side == 0 ? "" : ", ") + sideNames()[side] + ": " + std::to_string(ports[side]);
      return out + "}";
    };
    field(6, key, "");
    field(8, "inputs", sides(layer.inputs));
    field(8, "outputs", sides(layer.outputs));
    field(8, "adjacent", layer.fullyAdjacent ? "all" : flow(layer.adjacent, formatAdjacency));
    number(8, "hop", layer.hop, 1);
  }

  const Machine& machine_;
  std::string out_;
};

} // namespace

std::string writeMachine(const Machine& machine) {
  return MachineWriter(machine).write();
}

std::string contentHash(const Machine& machine) {
  // 64-bit FNV-1a (Fowler, Noll, Vo): stable across computers and versions of the standard library.
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : writeMachine(machine))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

} // namespace strata
