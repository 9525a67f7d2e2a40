// See target.h.
#include "compiler/hbir/mapping/target.h"

#include "compiler/hbir/layout/pieces.h"

#include <algorithm>
#include <limits>

namespace strata::hbir {

namespace {

using machine::Capacity;
using machine::MemoryId;
using machine::ProcessorId;

class Builder {
public:
  Builder(const Program& program, const std::string& name) : target_(program.target) {
    machine_.name = name;
    machine_.about = "The target of an HBIR program.";
    machine_.origin.location = target_.where;
  }

  Machine build() {
    const ProcessorId host{0}, tile{1};
    machine::Processor control;
    control.kind = machine::ProcessorKind::Control;
    control.masters = {host};
    control.kernels = {"move"};
    control.moves = 1;
    control.origin.location = target_.where;
    machine::Processor tiles;
    tiles.name = target_.tiles;
    tiles.kind = machine::ProcessorKind::Core;
    tiles.count = count(product(target_.extents));
    for (int64_t extent : target_.extents)
      tiles.grid.push_back(static_cast<uint64_t>(extent));
    tiles.masters = {host};
    tiles.kernels = {"move"};
    tiles.moves = 1;
    tiles.origin.location = target_.where;
    for (const MemoryClass& memory : target_.memories) {
      const MemoryId id = add(memory);
      if (memory.local)
        tiles.local.push_back(id);
      (memory.local ? local_ : global_).push_back(id);
    }
    machine::Memory main;
    main.name = unused("main");
    main.capacity = Capacity::available();
    main.explicitly = true;
    main.origin.location = target_.where;
    const MemoryId mainId{static_cast<uint32_t>(machine_.memories.size())};
    machine_.memories.push_back(std::move(main));
    control.name = unused("control");
    machine_.processors = {std::move(control), std::move(tiles)};

    machine::Link network;
    network.name = unused("network");
    network.ends = {host, tile};
    for (uint32_t i = 0; i < machine_.memories.size(); ++i)
      network.ends.push_back(MemoryId{i});
    network.origin.location = target_.where;
    machine_.links.push_back(std::move(network));

    if (!local_.empty())
      level(local_.front(), tile);
    const auto even = std::find_if(global_.begin(), global_.end(), [&](MemoryId id) {
      return local_.empty() || machine_[local_.front()].count % machine_[id].count == 0;
    });
    if (even != global_.end())
      level(*even, host);
    level(mainId, host);
    return std::move(machine_);
  }

private:
  static uint64_t count(std::optional<int64_t> number) {
    return number ? static_cast<uint64_t>(*number) : std::numeric_limits<uint64_t>::max();
  }

  bool taken(const std::string& name) const {
    return name == target_.tiles || machine_.memory(name).valid() ||
           (!machine_.links.empty() && machine_.link(name).valid()) ||
           std::any_of(target_.memories.begin(), target_.memories.end(),
                       [&](const MemoryClass& memory) { return memory.name == name; });
  }
  std::string unused(std::string name) const {
    while (taken(name))
      name += '_';
    return name;
  }

  MemoryId add(const MemoryClass& from) {
    machine::Memory memory;
    memory.name = from.name;
    if (from.name == target_.tiles || machine_.memory(from.name).valid())
      memory.name = from.local ? target_.tiles + "." + from.name : unused(from.name);
    if (from.size)
      memory.capacity = Capacity::of(static_cast<uint64_t>(*from.size));
    memory.count = count(instancesOf(target_, from));
    memory.width = static_cast<uint64_t>(from.width.value_or(1));
    memory.explicitly = true;
    memory.origin.location = from.where;
    machine_.memories.push_back(std::move(memory));
    return {static_cast<uint32_t>(machine_.memories.size() - 1)};
  }

  void level(MemoryId memory, ProcessorId processor) {
    machine::Level level{memory, processor, {}};
    level.origin.location = machine_[memory].origin.location;
    machine_.levels.push_back(std::move(level));
  }

  const Target& target_;
  Machine machine_;
  std::vector<MemoryId> local_, global_;
};

} // namespace

Machine toMachine(const Program& program, const std::string& name) {
  return Builder(program, name).build();
}

} // namespace strata::hbir
