// Implements the tables of counters: open addressing, linear probing, at most half full.
#include "runtime/core/counters.h"

#include "runtime/core/figures.h"
#include "runtime/core/run_context.h"
#include "runtime/core/runtime.h"
#include "runtime/core/scheduler.h"

#include <mutex>

namespace strata::runtime {
namespace {

size_t hash(const char* name) {
  const auto address = reinterpret_cast<uintptr_t>(name);
  return static_cast<size_t>((address >> 3) * 0x9E3779B97F4A7C15u >> 20);
}

} // namespace

CounterTable::Slot* CounterTable::find(const char* name) {
  for (size_t at = hash(name);; ++at) {
    Slot& slot = slots_[at & (capacity_ - 1)];
    if (slot.name == name || !slot.name)
      return &slot;
  }
}

void CounterTable::add(const char* name, int64_t amount) {
  Slot* slot = capacity_ ? find(name) : nullptr;
  if (!slot || !slot->name) {
    std::lock_guard guard(lock_);
    if (2 * (used_ + 1) > capacity_) {
      auto old = std::move(slots_);
      const size_t oldCapacity = capacity_;
      capacity_ = oldCapacity ? 2 * oldCapacity : 32;
      slots_ = std::make_unique<Slot[]>(capacity_);
      for (size_t i = 0; i < oldCapacity; ++i) {
        if (!old[i].name)
          continue;
        Slot* moved = find(old[i].name);
        moved->name = old[i].name;
        moved->value.store(old[i].value.load(std::memory_order_relaxed), std::memory_order_relaxed);
      }
    }
    slot = find(name);
    slot->name = name;
    ++used_;
  }
  // Only the owner adds, so a load and a store do; a reset in between may be lost, which is why resets ask for quiet.
  slot->value.store(slot->value.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

void CounterTable::addTo(std::map<std::string, int64_t>& totals) {
  std::lock_guard guard(lock_);
  for (size_t i = 0; i < capacity_; ++i)
    if (slots_[i].name)
      totals[slots_[i].name] += slots_[i].value.load(std::memory_order_relaxed);
}

void CounterTable::reset() {
  std::lock_guard guard(lock_);
  for (size_t i = 0; i < capacity_; ++i)
    slots_[i].value.store(0, std::memory_order_relaxed);
}

std::map<std::string, int64_t> counters() {
  std::map<std::string, int64_t> totals;
  if (ContextFigures* figures = current()->runContext->figuresIfAny())
    figures->forEachThread([&](ContextFigures::OfThread& own) { own.counters.addTo(totals); });
  std::erase_if(totals, [](const auto& entry) { return entry.second == 0; });
  return totals;
}

void resetCounters() {
  if (ContextFigures* figures = current()->runContext->figuresIfAny())
    figures->forEachThread([](ContextFigures::OfThread& own) { own.counters.reset(); });
}

} // namespace strata::runtime

void strata_count(const char* name, int64_t amount) {
  using namespace strata::runtime;
  Thread& thread = thisThread();
  thread.running->runContext->figures().of(thread).counters.add(name, amount);
}
