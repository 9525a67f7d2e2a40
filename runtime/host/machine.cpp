// Implements the stores behind explicit memories, and the calls that ask which one belongs to the executing processor.
#include "runtime/host/machine.h"

#include "base/machine/instance_range.h"
#include "runtime/core/failure.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/system_memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <string>

#ifdef STRATA_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace strata::runtime {
namespace {

constexpr uint64_t leastAlignment = 64;
constexpr uint32_t mostGuarded = 4096; // every guarded instance takes two of the system's limited number of mappings

bool roundUp(uint64_t& bytes, uint64_t unit) {
  if (__builtin_add_overflow(bytes, unit - 1, &bytes))
    return false;
  bytes -= bytes % unit;
  return true;
}

/// Where the instances of a memory lie in one mapping.
struct Layout {
  uint64_t usable = 0; // whole pages for one instance
  uint64_t offset = 0; // of an instance in its pages: at their end, so that what follows is the guard
  uint64_t step = 0;
  uint64_t total = 0;
};

/// False when the numbers do not fit 64 bits.
bool layOut(const StrataMemory& memory, uint64_t alignment, Layout& layout) {
  const uint64_t page = pageBytes();
  uint64_t padded = memory.capacity;
  layout.usable = memory.capacity;
  if (!roundUp(padded, alignment) || !roundUp(layout.usable, page))
    return false;
  layout.step = layout.usable;
  if (memory.instances <= mostGuarded && __builtin_add_overflow(layout.step, page, &layout.step))
    return false;
  if (alignment > page) {
    if (!roundUp(layout.step, alignment))
      return false;
  } else {
    layout.offset = layout.usable - padded;
  }
  return !__builtin_mul_overflow(layout.step, uint64_t(memory.instances), &layout.total) &&
         !__builtin_add_overflow(layout.total, alignment, &layout.total) && layout.total <= uint64_t(INT64_MAX);
}

void guardPadding([[maybe_unused]] const StrataMemory& memory, [[maybe_unused]] const Layout& layout,
                  [[maybe_unused]] char* pages) {
#ifdef STRATA_ADDRESS_SANITIZER
  char* begin = pages + layout.offset;
  ASAN_POISON_MEMORY_REGION(pages, layout.usable);
  ASAN_UNPOISON_MEMORY_REGION(begin, memory.capacity);
#endif
}

Store makeStore(const StrataMemory& memory) {
  Store store;
  store.instances = memory.instances;
  if (!memory.is_explicit || memory.capacity == 0 || memory.instances == 0)
    return store;
  const uint64_t alignment = std::max<uint64_t>(memory.alignment, leastAlignment);
  const std::string what = "the " + std::to_string(memory.instances) + " instances of memory '" + memory.name + "'";
  Layout layout;
  if (!layOut(memory, alignment, layout))
    failOutOfMemory(what, INT64_MAX);
  SystemMemory& system = systemMemory();
  char* base = static_cast<char*>(system.reserveAlike(layout.total));
  if (!base)
    failOutOfMemory(what, static_cast<int64_t>(layout.total));
  if (alignment > pageBytes())
    base += (alignment - reinterpret_cast<uintptr_t>(base) % alignment) % alignment;
  const bool guarded = memory.instances <= mostGuarded;
  const uint64_t regions = guarded ? memory.instances : 1;
  for (uint64_t i = 0; i < regions; ++i)
    if (!system.commit(base + i * layout.step, guarded ? layout.usable : layout.step * memory.instances))
      failOutOfMemory(what, static_cast<int64_t>(layout.total));
  for (uint64_t i = 0; i < memory.instances; ++i)
    guardPadding(memory, layout, base + i * layout.step);
  store.first = base + layout.offset;
  store.step = layout.step;
  store.tops = std::make_unique<int64_t[]>(memory.instances);
  return store;
}

std::string processorName(const Execution& execution) {
  std::string name;
  appendName(execution, name);
  return name;
}

[[noreturn]] void failNoStore(const Execution& execution, uint32_t memory) {
  const StrataMachine* machine = execution.runContext->machine();
  if (!machine || memory >= machine->memory_count)
    fail("runtime-no-store", "memory number " + std::to_string(memory) + " is not one of the machine's");
  const StrataMemory& asked = machine->memories[memory];
  if (!asked.is_explicit)
    fail("runtime-no-store", std::string("memory '") + asked.name + "' has no storage of its own");
  fail("runtime-no-store",
       processorName(execution) + " has no instance of memory '" + asked.name + "', of which there are " +
           std::to_string(asked.instances),
       "run no more instances at once than the machine has processors");
}

} // namespace

/// The sets of stores of a table that no context has.
struct StoreSets {
  std::mutex lock;
  std::vector<const Stores*> free;
};

namespace {

StoreSets& storeSetsOf(const StrataMachine& machine) {
  static std::mutex lock;
  static auto* known = new std::map<const StrataMachine*, StoreSets>; // pointers into it are handed out for good
  std::lock_guard guard(lock);
  return (*known)[&machine];
}

const Stores* makeStores(const StrataMachine& machine, StoreSets& sets) {
  auto* stores = new Stores;
  stores->sets = &sets;
  for (uint32_t i = 0; i < machine.memory_count; ++i)
    stores->memories.push_back(makeStore(machine.memories[i]));
  return stores;
}

void giveBackStores(const void* given) {
  const auto* stores = static_cast<const Stores*>(given);
  std::lock_guard guard(stores->sets->lock);
  stores->sets->free.push_back(stores);
}

} // namespace

const Stores* storesOf(const Execution& execution) {
  return static_cast<const Stores*>(execution.runContext->stores());
}

RunContext::Stores takeStores(const StrataMachine& machine) {
  StoreSets& sets = storeSetsOf(machine);
  std::lock_guard guard(sets.lock);
  const Stores* stores = nullptr;
  if (sets.free.empty()) {
    stores = makeStores(machine, sets);
  } else {
    stores = sets.free.back();
    sets.free.pop_back();
  }
  return {stores, giveBackStores};
}

int64_t Store::push(const StrataMemory& memory, uint64_t first, uint64_t count, int64_t base, int64_t bytes,
                    const char* what) const {
  const auto capacity = static_cast<int64_t>(memory.capacity);
  const int64_t alignment = std::max<uint32_t>(memory.alignment, 1);
  int64_t address = base, end = 0;
  for (uint64_t i = first; i < first + count; ++i)
    address = std::max(address, tops[i]);
  if (__builtin_add_overflow(bytes, alignment - 1, &end) ||
      __builtin_add_overflow(end - end % alignment, address, &end) || bytes < 0 || end > capacity)
    fail("runtime-store-full",
         std::string("memory '") + memory.name + "' holds " + std::to_string(capacity) + " bytes, " +
             std::to_string(address) + " of them are taken, and '" + what + "' of a task that calls itself wants " +
             std::to_string(bytes) + " more",
         "let the task call itself less deep: make the arrays larger with which another instance takes over, or place "
         "some at another level");
  for (uint64_t i = first; i < first + count; ++i)
    tops[i] = end;
  return address;
}

void Store::pop(uint64_t first, uint64_t count, int64_t address) const {
  for (uint64_t i = first; i < first + count; ++i) {
    if (address > tops[i])
      fail("runtime-release-order", "a block of a store was given back before one that was taken after it");
    tops[i] = address;
  }
}

int64_t instanceOf(const Execution& execution, int64_t instances) {
  const StrataMachine* machine = execution.runContext->machine();
  if (!machine || execution.processor >= machine->processor_count)
    return 0;
  const int64_t processors = std::max<int64_t>(machine->processors[execution.processor].count, 1);
  const auto own = machine::InstanceRange::memoriesOf(execution.instance, processors, instances);
  return own ? own->first() : instances;
}

std::optional<int64_t> rankOfStore(const void* address, const Ranks& all) {
  const Stores* stores = storesOf(*current());
  for (const Store& store : stores ? std::span(stores->memories) : std::span<const Store>())
    if (const auto offset = static_cast<uint64_t>(static_cast<const char*>(address) - store.first);
        store.first && offset < store.step * store.instances)
      return rankOf(static_cast<int64_t>(offset / store.step), store.instances, all);
  return std::nullopt;
}

uint32_t executingProcessor() {
  return current()->processor;
}
int64_t executingInstance() {
  return current()->instance;
}

} // namespace strata::runtime

using namespace strata::runtime;

void strata_machine(const StrataMachine* machine) {
  Execution& me = *current();
  if (me.runContext->machine() == machine)
    return;
  if (machine)
    enterContext(me, new RunContext(machine, takeStores(*machine), *me.runContext));
  else
    leaveContext(me);
  me.processor = Execution::noProcessor;
  me.instance = 0;
}

void strata_call_begin(StrataCall* call, const StrataMachine* machine) {
  Execution& me = *current();
  auto* own = new RunContext(machine, takeStores(*machine), *me.runContext);
  *call = {me.runContext, me.job, me.instance, me.span, me.processor, me.ownsContext};
  me.runContext = own;
  me.ownsContext = true;
  me.job = nullptr;
  me.processor = Execution::noProcessor;
  me.instance = 0;
  me.span = 1;
}

void strata_call_end(const StrataCall* call) {
  Execution& me = *current();
  leaveContext(me);
  me.runContext = static_cast<RunContext*>(call->context);
  me.ownsContext = call->owns_context != 0;
  me.job = static_cast<ParallelJob*>(call->job);
  me.instance = call->instance;
  me.span = call->span;
  me.processor = call->processor;
}

int64_t strata_instance(void) {
  return executingInstance();
}

/// The executing processor's instance of an explicit memory; ends in a failure where it has none.
static const Store& ownStore(uint32_t memory, uint64_t& instance) {
  const Execution& me = *current();
  const Stores* stores = storesOf(me);
  if (!stores || memory >= stores->memories.size() || !stores->memories[memory].first)
    failNoStore(me, memory);
  const Store& store = stores->memories[memory];
  instance = static_cast<uint64_t>(instanceOf(me, store.instances));
  if (instance >= store.instances)
    failNoStore(me, memory);
  return store;
}

void* strata_store(uint32_t memory) {
  uint64_t instance = 0;
  const Store& store = ownStore(memory, instance);
  return store.first + instance * store.step;
}

void* strata_stack_acquire(uint32_t memory, int64_t base, int64_t bytes, const char* what) {
  uint64_t instance = 0;
  const Store& store = ownStore(memory, instance);
  return store.first + instance * store.step +
         store.push(current()->runContext->machine()->memories[memory], instance, 1, base, bytes, what);
}

void strata_stack_release(uint32_t memory, void* block) {
  uint64_t instance = 0;
  const Store& store = ownStore(memory, instance);
  store.pop(instance, 1, static_cast<char*>(block) - (store.first + instance * store.step));
}
