// An execution: one flow of compiled code, either a fibre or a thread that called in from outside. It knows the run
// context that it is part of and which processor of its machine it runs as, owns an arena for scratch, and says what it
// waits for while it is blocked.
//
// Objects come from the scheduler and are never freed, only reused: a pointer to one that has ended is still safe to
// unpark.
//
// Invariants:
// 1. All members except `state` are touched only by the thread that runs the execution, or while it is parked or ended.
// 2. `state` is Running from creation to end except between a park and the unpark that ends it.
// 3. unpark may come at any time and may come for nothing: whoever parks tests his condition in a loop.
#pragma once

#include "runtime/abi.h"
#include "runtime/core/arena.h"
#include "runtime/core/fibre.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace strata::runtime {

struct ParallelJob;
class RunContext;
struct Thread;

/// What a parked execution waits for. `describe` is called only to explain a deadlock, when nothing runs.
struct Wait {
  void (*describe)(const void* object, std::string& out);
  const void* object;
  const char* traced = nullptr; // what a trace calls the wait; null: it does not show it
};

/// A span that has begun and not ended.
struct OpenSpan {
  const char* name;
  int64_t start;
  bool waits;
  int64_t instances; // of a node that it executes; 0: it is none of a node
};

struct Execution {
  static constexpr uint32_t noProcessor = ~0u;
  enum State : uint32_t { Running, Parked, Notified };
  /// What becomes of an execution once it has been left for another one.
  enum class Leave { Stay, Park, Requeue, End };

  std::atomic<uint32_t> state{Running};
  Leave leave = Leave::Stay;
  Execution* next = nullptr;    // in a run queue or a list of free objects
  Thread* native = nullptr;     // the thread whose own stack this is; null: a fibre
  void (*run)(void*) = nullptr; // a fibre's work
  void* argument = nullptr;
  FibreContext context;
  Wait wait{nullptr, nullptr, nullptr};

  RunContext* runContext = nullptr; // never null while it runs
  bool ownsContext = false;         // it is one of that context's users; else whoever started it, or waits for it, is

  // The processor that this execution acts as.
  uint32_t processor = noProcessor; // index into the table of the context's machine
  int64_t instance = 0;
  int64_t span = 1;           // processors of its class that it has, itself the first (strata_spmd)
  ParallelJob* job = nullptr; // innermost parallel job of which this runs an instance

  Arena arena;
  std::vector<OpenSpan> spans;
  void* locals = nullptr; // thread_local variables of its own (runtime/svm/thread_local.cpp)
};

/// Appends the name of the processor an execution acts as: "pe 3", or "the calling thread" where it acts as none.
void appendName(const Execution& execution, std::string& out);

} // namespace strata::runtime
