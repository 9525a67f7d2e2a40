// The machine that a compiled program was placed on, made real: storage for every explicit memory of its table. Every
// run context has a set of stores of its own, so there are as many sets as there are contexts at once. A set is kept
// for the life of the process and goes from one context to the next. Any thread.
//
// Invariants:
// 1. An instance of a memory has exactly its capacity, aligned to the memory's alignment and to 64 at least.
// 2. What lies behind an instance faults. A page that cannot be touched follows its last byte, up to the padding that
//    alignment asks for, which the address sanitizer guards. (A memory of very many instances does without those
//    pages.)
#pragma once

#include "runtime/abi.h"
#include "runtime/core/execution.h"
#include "runtime/core/run_context.h"
#include "runtime/host/ranks.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace strata::runtime {

/// Storage of one explicit memory; `first` is null for a memory that is not explicit.
struct Store {
  char* first = nullptr;
  uint64_t step = 0; // bytes from one instance to the next
  uint32_t instances = 0;
  /// Bytes up to the end of the last block on each instance's stack; 0: there is none. Touched by who acts for the
  /// processor that an instance belongs to, or by who distributes a block over several while these are idle.
  std::unique_ptr<int64_t[]> tops;

  /// Room for `bytes` more bytes on the stacks of `count` instances from `first` on, which begin at byte `base`, at one
  /// address for all: in bytes from each one's beginning. Failure "runtime-store-full", which names the block `what`.
  int64_t push(const StrataMemory& memory, uint64_t first, uint64_t count, int64_t base, int64_t bytes,
               const char* what) const;
  /// Gives the block at that address back, the last one of these instances.
  void pop(uint64_t first, uint64_t count, int64_t address) const;
};

struct StoreSets;

struct Stores {
  std::vector<Store> memories;
  StoreSets* sets = nullptr; // to which they are given back
};

/// The stores of the execution's run context; null: it has no machine.
const Stores* storesOf(const Execution& execution);
/// Stores that nobody else uses. Reports failure through strata_fail ("runtime-out-of-memory").
RunContext::Stores takeStores(const StrataMachine& machine);

/// Which of `instances` of a memory belongs to the processor that an execution acts as; `instances` when there are more
/// processors at work than the machine has.
int64_t instanceOf(const Execution& execution, int64_t instances);

/// The rank whose instance of an explicit memory has an address, of the caller's run context; nothing where none has.
std::optional<int64_t> rankOfStore(const void* address, const Ranks& all);

/// The class and the index of the processor that the caller runs as; no class: Execution::noProcessor.
uint32_t executingProcessor();
int64_t executingInstance();

} // namespace strata::runtime
