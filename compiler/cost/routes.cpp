// See routes.h.
#include "compiler/cost/routes.h"

#include <algorithm>
#include <optional>

namespace strata::cost {

using machine::LinkId;
using machine::MemoryId;

Routes::Routes(const Machine& machine) : machine_(machine), connections_(machine) {
  for (const machine::Memory& memory : machine.memories)
    resources_.push_back({memory.name, memory.count});
  for (const machine::Link& link : machine.links)
    resources_.push_back({link.name, link.count});
}

static double cyclesPerByte(const machine::Bandwidth& bandwidth) {
  return bandwidth.stated() && bandwidth.bytes
             ? static_cast<double>(bandwidth.cycles) / static_cast<double>(bandwidth.bytes)
             : 0;
}

const Route& Routes::between(MemoryId from, MemoryId to) {
  const auto [found, isNew] = routes_.try_emplace({from.value, to.value});
  if (isNew)
    found->second = make(from, to);
  return found->second;
}

/// `times`: the bytes pass it so often.
void Routes::pass(Route& route, size_t resource, uint64_t latency, const machine::Bandwidth& bandwidth,
                  double times) const {
  const double cycles = cyclesPerByte(bandwidth) * times;
  route.latency += static_cast<double>(latency);
  route.cyclesPerByte = std::max(route.cyclesPerByte, cycles);
  if (cycles > 0)
    route.busy.emplace_back(resource, cycles);
}

Route Routes::make(MemoryId from, MemoryId to) const {
  const auto physical = [&](MemoryId memory) { return machine_[memory].isVirtual() ? machine_[memory].over : memory; };
  const MemoryId source = physical(from), destination = physical(to);
  Route route;
  route.width = std::max(machine_[source].width, machine_[destination].width);
  const auto passMemory = [&](MemoryId memory, double times) {
    pass(route, memory.value, machine_[memory].latency, machine_[memory].bandwidth, times);
  };
  const auto passLink = [&](uint32_t link) {
    pass(route, machine_.memories.size() + link, machine_.links[link].latency, machine_.links[link].bandwidth, 1);
  };
  std::vector<LinkId> links = connections_.route(source, destination);
  for (const MemoryId memory : {from, to}) {
    if (!machine_[memory].isVirtual())
      continue;
    std::optional<uint32_t> slowest;
    for (uint32_t number = 0; number < machine_.links.size(); ++number) {
      const machine::Link& link = machine_.links[number];
      if (std::ranges::find(link.ends, machine::LinkEnd(physical(memory))) != link.ends.end() &&
          (!slowest || cyclesPerByte(link.bandwidth) > cyclesPerByte(machine_.links[*slowest].bandwidth)))
        slowest = number;
    }
    if (slowest && std::ranges::find(links, LinkId{*slowest}) == links.end())
      links.push_back(LinkId{*slowest});
  }
  // Within one memory bytes are read and written there.
  if (source == destination) {
    passMemory(source, 2);
  } else {
    passMemory(source, 1);
    passMemory(destination, 1);
  }
  for (const LinkId link : links)
    passLink(link.value);
  return route;
}

} // namespace strata::cost
