// Gathers the figures of a machine; see figures.h. Takes machines that validate has not seen, too.
#include "base/machine/figures.h"

#include <algorithm>
#include <bit>

namespace strata::machine {

namespace {

/// The caches of a processor, from the nearest: the smaller one is nearer.
std::vector<const Memory*> cachesOf(const Machine& machine, const Processor& processor) {
  std::vector<const Memory*> caches;
  for (const MemoryId id : processor.local)
    if (id.value < machine.memories.size() && machine[id].line && lineRule.holds(*machine[id].line) &&
        machine[id].capacity.kind == Capacity::Kind::Bytes)
      caches.push_back(&machine[id]);
  std::sort(caches.begin(), caches.end(),
            [](const Memory* a, const Memory* b) { return a->capacity.bytes < b->capacity.bytes; });
  return caches;
}

/// The least of the stated values; where none is stated, the value stays.
class Least {
public:
  Least(uint64_t& value, const FigureRule& rule) : value_(value), rule_(rule) {}
  void take(const std::optional<uint64_t>& stated) {
    if (!stated || !rule_.holds(*stated))
      return;
    value_ = isStated_ ? std::min(value_, *stated) : *stated;
    isStated_ = true;
  }

private:
  uint64_t& value_;
  const FigureRule& rule_;
  bool isStated_ = false;
};

} // namespace

bool FigureRule::holds(uint64_t value) const {
  return value >= least && value <= most && (!isPowerOfTwo || std::has_single_bit(value));
}

std::string FigureRule::takes() const {
  return (isPowerOfTwo ? "a power of two from " : "from ") + std::to_string(least) + " to " + std::to_string(most) +
         " is possible";
}

Figures figuresOf(const Machine& machine) {
  Figures figures;
  Least vector(figures.vectorBytes, vectorRule), registers(figures.vectorRegisters, vectorRegistersRule),
      latency(figures.vectorLatency, vectorLatencyRule), operations(figures.operationsPerCycle, operationsRule),
      stores(figures.storesPerCycle, storesRule), memoryLatency(figures.memoryLatency, memoryLatencyRule),
      line(figures.lineBytes, lineRule), cache(figures.cacheBytes, cacheRule), page(figures.pageBytes, pageRule),
      largePage(figures.largePageBytes, largePageRule);
  for (const Processor& processor : machine.processors) {
    if (!processor.userKernels)
      continue;
    vector.take(processor.vector);
    registers.take(processor.vectorRegisters);
    latency.take(processor.vectorLatency);
    operations.take(processor.operations);
    stores.take(processor.stores);
    memoryLatency.take(processor.memoryLatency);
    const std::vector<const Memory*> caches = cachesOf(machine, processor);
    if (caches.empty())
      continue;
    for (const Memory* each : caches)
      line.take(each->line);
    cache.take(caches[std::min<size_t>(caches.size() - 1, 1)]->capacity.bytes);
  }
  for (const Memory& memory : machine.memories) {
    page.take(memory.page);
    largePage.take(memory.largePage);
  }
  figures.largePageBytes = std::max(figures.largePageBytes, figures.pageBytes);
  return figures;
}

} // namespace strata::machine
