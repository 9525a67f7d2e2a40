// Each table is a constant array, left out where it is empty.
#include "compiler/target/machine_text.h"

#include "compiler/clang/c_text.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace strata::target {

namespace {

std::string number(uint64_t value) {
  return std::to_string(value);
}

/// One of the machine's tables, `fields` being the text of an entry after its name; nothing for an empty one.
template <typename Table>
std::string tableText(const char* type, const char* name, const Table* entries, uint32_t count,
                      llvm::function_ref<std::vector<uint64_t>(const Table&)> fields) {
  std::string text = count ? std::string("static const ") + type + " " + name + "[] = {\n" : "";
  for (uint32_t index = 0; index < count; ++index) {
    text += "  {" + clang::cLiteral(entries[index].name);
    for (const uint64_t field : fields(entries[index]))
      text += ", " + number(field) + "u";
    text += "},\n";
  }
  return text + (count ? "};\n" : "");
}

} // namespace

std::string machineText(const StrataMachine& machine) {
  std::string text = tableText<StrataMemory>(
      "StrataMemory", "strata_memories", machine.memories, machine.memory_count, [](const StrataMemory& memory) {
        return std::vector<uint64_t>{memory.capacity,        memory.instances,       memory.is_explicit,
                                     memory.alignment,       memory.width,           memory.latency,
                                     memory.bandwidth_bytes, memory.bandwidth_cycles};
      });
  text += tableText<StrataProcessor>("StrataProcessor", "strata_processors", machine.processors,
                                     machine.processor_count, [](const StrataProcessor& processor) {
                                       return std::vector<uint64_t>{processor.count, processor.moves, processor.clock,
                                                                    processor.is_process};
                                     });
  text += tableText<StrataFifo>("StrataFifo", "strata_fifos", machine.fifos, machine.fifo_count,
                                [](const StrataFifo& fifo) {
                                  return std::vector<uint64_t>{fifo.capacity, fifo.width, fifo.latency, fifo.instances};
                                });
  text += tableText<StrataLink>(
      "StrataLink", "strata_links", machine.links, machine.link_count, [](const StrataLink& link) {
        return std::vector<uint64_t>{link.latency, link.bandwidth_bytes, link.bandwidth_cycles, link.transfers};
      });
  const auto table = [](const char* name, uint32_t count) { return count ? std::string(name) : std::string("0"); };
  const StrataHardware& hardware = machine.hardware;
  return text + "static const StrataMachine strata_this_machine = {" + clang::cLiteral(machine.name) + ", " +
         table("strata_memories", machine.memory_count) + ", " + table("strata_processors", machine.processor_count) +
         ", " + number(machine.memory_count) + "u, " + number(machine.processor_count) + "u, " +
         table("strata_fifos", machine.fifo_count) + ", " + table("strata_links", machine.link_count) + ", " +
         number(machine.fifo_count) + "u, " + number(machine.link_count) + "u, " + number(machine.clock) + "u, {" +
         number(static_cast<uint64_t>(hardware.task_bytes)) + ", " +
         number(static_cast<uint64_t>(hardware.tile_elements)) + ", " + number(hardware.large_page_bytes) + "u}};\n";
}

} // namespace strata::target
