// Direct access to memories, from the levels, local memories and links of a machine.
#include "base/machine/addressing.h"

#include <algorithm>

namespace strata::machine {

bool hasStore(const Machine& machine, ProcessorId processor) {
  return std::any_of(machine[processor].local.begin(), machine[processor].local.end(),
                     [&](MemoryId local) { return machine.isStore(local); });
}

bool touches(const Machine& machine, ProcessorId processor, MemoryId memory) {
  if (!machine.isAddressed(memory))
    return false;
  const std::vector<MemoryId>& local = machine[processor].local;
  if (std::find(local.begin(), local.end(), memory) != local.end())
    return true;
  for (const Level& level : machine.levels)
    if (level.processor == processor && level.memory == memory)
      return true;
  return !hasStore(machine, processor) && !machine.isStore(memory) && machine.reaches(processor, memory);
}

bool controls(const Machine& machine, ProcessorId processor, MemoryId memory) {
  const std::optional<unsigned> level = machine.levelOf(memory);
  return level && machine.controllerOf(*level) == processor;
}

bool isOneAddressSpace(const Machine& machine, MemoryId memory) {
  return !machine.isStore(memory) && !machine[memory].isVirtual() && !machine[memory].files;
}

bool canMove(const Machine& machine, ProcessorId processor, MemoryId from, MemoryId to) {
  auto connects = [&](ProcessorId who, MemoryId memory) {
    return touches(machine, who, memory) || machine.reaches(who, memory);
  };
  auto reaches = [&](MemoryId memory) {
    const ProcessorId owner = machine.ownerOf(memory);
    return connects(processor, memory) || (owner.valid() && connects(owner, from) && connects(owner, to));
  };
  return reaches(from) && reaches(to);
}

MemoryId homeOf(const Machine& machine, ProcessorId processor) {
  for (size_t number = machine.levels.size(); number-- > 0;)
    if (const Level& level = machine.levels[number]; level.processor == processor && machine.isAddressed(level.memory))
      return level.memory;
  if (!machine[processor].local.empty())
    return machine[processor].local.front();
  for (uint32_t number = 0; number < machine.memories.size(); ++number)
    if (touches(machine, processor, MemoryId{number}))
      return MemoryId{number};
  return {};
}

DefaultPlaces defaultPlaces(const Machine& machine) {
  DefaultPlaces places;
  if (machine.levels.empty())
    return places;
  const MemoryId outermost = machine.levels.back().memory;
  places.control = machine.controllerOf(static_cast<unsigned>(machine.levels.size() - 1));
  bool isLimited = machine[outermost].files;
  for (unsigned level = 0; level < machine.levels.size(); ++level) {
    const ProcessorId controller = machine.controllerOf(level);
    const MemoryId memory = machine.levels[level].memory;
    if (!controller.valid() || !machine.isAddressed(memory) || (machine.isStore(memory) && !isLimited))
      continue;
    isLimited = machine.isStore(memory);
    places.control = controller;
    places.blocks = memory;
  }
  places.arguments = isLimited ? outermost : places.blocks;
  return places;
}

uint64_t processorsBesideControl(const Machine& machine) {
  const DefaultPlaces places = defaultPlaces(machine);
  if (!places.control.valid() || hasStore(machine, places.control) || places.arguments != places.blocks)
    return 0;
  const Processor& processor = machine[places.control];
  return processor.count > 1 || processor.kind == ProcessorKind::Core ? processor.count : 0;
}

} // namespace strata::machine
