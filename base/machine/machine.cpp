// Questions about a machine; see machine.h. All are answered from the lists by search: machines are small.
#include "base/machine/machine.h"
#include "base/machine/connections.h"
#include "base/machine/instance_range.h"

#include <algorithm>

namespace strata {

using namespace machine;

namespace machine {

Location Origin::of(std::string_view field) const {
  for (const auto& [name, place] : fields)
    if (name == field)
      return place;
  return location;
}

uint64_t Bandwidth::cyclesFor(uint64_t transferred) const {
  if (bytes == 0)
    return 0;
  const unsigned __int128 product = static_cast<unsigned __int128>(transferred) * cycles;
  const unsigned __int128 rounded = (product + bytes - 1) / bytes;
  return rounded > ~uint64_t(0) ? ~uint64_t(0) : static_cast<uint64_t>(rounded);
}

bool Processor::ownMaster(ProcessorId self) const {
  return std::find(masters.begin(), masters.end(), self) != masters.end();
}

bool operator==(const Processor& a, const Processor& b) {
  const auto all = [](const Processor& p) {
    return std::tie(p.name, p.kind, p.count, p.grid, p.clock, p.costs, p.masters, p.userKernels, p.kernels, p.moves,
                    p.vector, p.vectorRegisters, p.vectorLatency, p.operations, p.stores, p.memoryLatency, p.local,
                    p.array, p.isProcess, p.target);
  };
  return all(a) == all(b);
}

} // namespace machine

namespace {

template <typename Element>
Id<Element> findByName(const std::vector<Element>& list, std::string_view name) {
  for (uint32_t i = 0; i < list.size(); ++i)
    if (list[i].name == name)
      return {i};
  return {};
}

} // namespace

MemoryId Machine::memory(std::string_view name) const {
  return findByName(memories, name);
}
ProcessorId Machine::processor(std::string_view name) const {
  return findByName(processors, name);
}
FifoId Machine::fifo(std::string_view name) const {
  return findByName(fifos, name);
}
LinkId Machine::link(std::string_view name) const {
  return findByName(links, name);
}

std::optional<unsigned> Machine::levelOf(MemoryId id) const {
  for (unsigned i = 0; i < levels.size(); ++i)
    if (levels[i].memory == id)
      return i;
  return std::nullopt;
}

ProcessorId Machine::controllerOf(unsigned level) const {
  for (size_t i = level; i < levels.size(); ++i)
    if (levels[i].processor.valid())
      return levels[i].processor;
  return {};
}

uint64_t Machine::fanOut(unsigned level) const {
  const uint64_t inner = (*this)[levels[level].memory].count;
  if (level + 1 >= levels.size())
    return inner;
  return machine::instancesEach(inner, (*this)[levels[level + 1].memory].count);
}

bool Machine::isStore(MemoryId id) const {
  return isExplicit(id) && isAddressed(id) && capacityOf(id).kind == Capacity::Kind::Bytes;
}

bool Machine::isAddressed(MemoryId id) const {
  return !(*this)[id].isVirtual() && !(*this)[id].files;
}

bool Machine::isExplicit(MemoryId id) const {
  // A virtual memory is managed as what it joins is. The bound ends the walk in a machine that validate refuses.
  for (size_t step = 0; step < memories.size() && (*this)[id].isVirtual(); ++step)
    id = (*this)[id].over;
  return (*this)[id].explicitly;
}

ProcessorId Machine::ownerOf(MemoryId id) const {
  for (uint32_t i = 0; i < processors.size(); ++i)
    if (std::find(processors[i].local.begin(), processors[i].local.end(), id) != processors[i].local.end())
      return {i};
  const std::optional<unsigned> level = levelOf(id);
  return level ? levels[*level].processor : ProcessorId();
}

Capacity Machine::capacityOf(MemoryId id) const {
  uint64_t joined = 1;
  for (size_t step = 0; step < memories.size() && (*this)[id].isVirtual(); ++step) {
    const MemoryId inner = (*this)[id].over;
    joined *= machine::instancesEach((*this)[inner].count, (*this)[id].count);
    id = inner;
  }
  Capacity capacity = (*this)[id].capacity;
  if (__builtin_mul_overflow(capacity.bytes, joined, &capacity.bytes))
    capacity.bytes = ~uint64_t(0);
  return capacity;
}

bool Machine::reaches(ProcessorId processor, MemoryId memory) const {
  return Connections(*this).reaches(processor, memory);
}

bool Machine::reaches(ProcessorId processor, FifoId fifo) const {
  return Connections(*this).reaches(processor, fifo);
}

bool Machine::supports(ProcessorId processor, std::string_view kernel) const {
  const std::vector<std::string>& kernels = (*this)[processor].kernels;
  return std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
}

} // namespace strata
