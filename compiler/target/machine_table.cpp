// Names first: the tables point to them.
#include "compiler/target/machine_table.h"

#include <algorithm>

namespace strata::target {

MachineTable::MachineTable(const Machine& machine) {
  names_.reserve(machine.memories.size() + machine.processors.size() + 1);
  auto name = [&](const std::string& text) { return names_.emplace_back(text).c_str(); };
  for (uint32_t number = 0; number < machine.memories.size(); ++number) {
    const machine::Memory& memory = machine.memories[number];
    bool bounded = memory.capacity.kind == machine::Capacity::Kind::Bytes;
    bool isExplicit = machine.isStore(machine::MemoryId{number});
    memories_.push_back({name(memory.name), bounded ? memory.capacity.bytes : 0, static_cast<uint32_t>(memory.count),
                         isExplicit, static_cast<uint32_t>(memory.alignment)});
  }
  for (const machine::Processor& processor : machine.processors)
    processors_.push_back({name(processor.name), static_cast<uint32_t>(processor.count),
                           static_cast<uint32_t>(std::min<uint64_t>(processor.moves, UINT32_MAX))});
  table_ = {name(machine.name), memories_.data(), processors_.data(), static_cast<uint32_t>(memories_.size()),
            static_cast<uint32_t>(processors_.size())};
}

} // namespace strata::target
