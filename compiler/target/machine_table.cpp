// Names first: the tables point to them.
#include "compiler/target/machine_table.h"

#include "base/machine/figures.h"

#include <algorithm>

namespace strata::target {

/// A number that the runtime keeps in 32 bits.
static uint32_t inWord(uint64_t number) {
  return static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));
}

MachineTable::MachineTable(const Machine& machine) {
  names_.reserve(machine.memories.size() + machine.processors.size() + machine.fifos.size() + machine.links.size() + 1);
  auto name = [&](const std::string& text) { return names_.emplace_back(text).c_str(); };
  for (uint32_t number = 0; number < machine.memories.size(); ++number) {
    const machine::Memory& memory = machine.memories[number];
    bool bounded = memory.capacity.kind == machine::Capacity::Kind::Bytes;
    bool isExplicit = machine.isStore(machine::MemoryId{number});
    memories_.push_back({name(memory.name), bounded ? memory.capacity.bytes : 0, inWord(memory.count), isExplicit,
                         inWord(memory.alignment), memory.width, memory.latency, memory.bandwidth.bytes,
                         memory.bandwidth.cycles});
  }
  for (const machine::Processor& processor : machine.processors)
    processors_.push_back(
        {name(processor.name), inWord(processor.count), inWord(processor.moves), processor.clock, processor.isProcess});
  for (const machine::Fifo& fifo : machine.fifos)
    fifos_.push_back({name(fifo.name), fifo.capacity, fifo.width, fifo.latency, inWord(fifo.count)});
  for (const machine::Link& link : machine.links)
    links_.push_back({name(link.name), link.latency, link.bandwidth.bytes, link.bandwidth.cycles, inWord(link.count)});
  const machine::Figures figures = machine::figuresOf(machine);
  table_ = {name(machine.name),
            memories_.data(),
            processors_.data(),
            static_cast<uint32_t>(memories_.size()),
            static_cast<uint32_t>(processors_.size()),
            fifos_.data(),
            links_.data(),
            static_cast<uint32_t>(fifos_.size()),
            static_cast<uint32_t>(links_.size()),
            machine.clock,
            {static_cast<int64_t>(figures.taskBytes()), static_cast<int64_t>(figures.tileElements()),
             figures.largePageBytes}};
}

} // namespace strata::target
