// A thread that takes part in executing fibres: its run queue, its caches, and its place in the list of sleepers. Used
// by scheduler.cpp, sleep.cpp and the figures of run contexts, which have a table for each; nobody else.
//
// Thread objects are never freed: one whose thread has ended is taken over by the next, and what its queue still holds
// is stolen by the others.
#pragma once

#include "runtime/core/execution.h"
#include "runtime/core/runtime.h"
#include "runtime/core/spin_lock.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace strata::runtime {

constexpr uint32_t mostThreads = 2 * mostWorkers; // with those that call in from outside

/// A queue, first in, first out, except for executions that yield. These poll for what others do, so they run again
/// only after all others in the queue, in the reverse order of their last round. So rounds over thousands of them go
/// forth and back, and a chain in which each waits for its neighbour ends in two rounds whichever way it leads. The
/// owner and threads that steal use it alike.
class RunQueue {
public:
  void pushYielded(Execution* execution) {
    std::lock_guard guard(lock_);
    execution->next = yielded_;
    yielded_ = execution;
    if (!execution->next)
      lastYielded_ = execution;
    size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void push(Execution* execution) {
    std::lock_guard guard(lock_);
    execution->next = nullptr;
    (last_ ? last_->next : first_) = execution;
    last_ = execution;
    size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  Execution* pop() {
    if (size() == 0)
      return nullptr;
    std::lock_guard guard(lock_);
    // Others that keep coming must not keep these from running for ever.
    if (yielded_ && (!first_ || ++passed_ >= mostPassed)) {
      lastYielded_->next = first_;
      if (!first_)
        last_ = lastYielded_;
      first_ = yielded_;
      yielded_ = nullptr;
      passed_ = 0;
      sweeps_.store(sweeps() + 1, std::memory_order_relaxed);
    }
    Execution* execution = first_;
    if (!execution)
      return nullptr;
    first_ = execution->next;
    if (!first_)
      last_ = nullptr;
    size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    pops_.store(pops_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return execution;
  }
  /// A hint: may be out of date.
  uint32_t size() const { return size_.load(std::memory_order_relaxed); }
  /// How many have been taken so far; a thief sees from it whether the owner is busy with something long.
  uint32_t pops() const { return pops_.load(std::memory_order_relaxed); }
  /// How many sweeps over executions that had yielded have begun.
  uint32_t sweeps() const { return sweeps_.load(std::memory_order_relaxed); }
  /// Exact, and ordered against pushes: a push that this does not see will see what the caller wrote before.
  bool emptyForSure() {
    std::lock_guard guard(lock_);
    return first_ == nullptr && yielded_ == nullptr;
  }

private:
  static constexpr uint32_t mostPassed = 1 << 14;
  SpinLock lock_;
  Execution* first_ = nullptr;
  Execution* last_ = nullptr;
  Execution* yielded_ = nullptr; // a stack
  Execution* lastYielded_ = nullptr;
  std::atomic<uint32_t> sweeps_{0};
  uint32_t passed_ = 0; // taken since something has been waiting in that stack
  std::atomic<uint32_t> size_{0};
  std::atomic<uint32_t> pops_{0};
};

/// An execution parked by parkUnfenced that nobody has looked at since.
struct Unfenced {
  const void* object;
  bool (*ready)(const void* object, const Execution* execution);
  Execution* execution;
};

struct alignas(128) Thread {
  RunQueue queue;
  Execution native; // the thread's own stack
  Execution* running = &native;
  ExceptionState* exceptions = nullptr; // of what runs
  bool pooled = false;                  // made by the runtime
  std::atomic<bool> ends{false};        // of the pool that is being stopped
  uint32_t index = 0;                   // in the scheduler's table
  uint32_t tick = 0;
  uint32_t sweep = 0;                              // its queue's, when last looked at
  std::chrono::steady_clock::time_point foundAt{}; // when it last got something to do
  std::chrono::steady_clock::duration mayLook{};   // for work, before it sleeps
  bool hasNapped = false;                          // since then
  std::vector<Unfenced> unfenced;
  std::vector<uint32_t> seenPops; // per other thread: its pops() when last looked at, and for how many looks
  std::vector<uint32_t> seenLooks;
  StackCache stacks;
  Execution* freeFibres = nullptr;
  uint32_t freeFibreCount = 0;

  // Guarded by the sleep lock, but for `wake`, on which the thread sleeps.
  bool asleep = false;
  bool naps = false;
  Thread* nextAsleep = nullptr;
  std::atomic<uint32_t> wake{0};
};

/// The calling thread's; makes it known on the first call.
Thread& thisThread();
/// Every Thread object there is, used or not.
uint32_t threadSlots();
Thread& threadSlot(uint32_t index);

// ---- sleep.cpp ----

/// Counts a thread in or out. A thread that is in and not asleep may make work.
void joinSleepers(const Thread& thread);
void leaveSleepers(const Thread& thread);
/// Sleeps until woken, unless there is something to do; reports a deadlock when there never will be.
void sleep(Thread& thread);
/// Wakes one thread if any sleeps and none is looking for work already.
void wakeForWork();
/// Sleeps for so long at most, as one that is awake: only wakeThread wakes it.
void napFor(Thread& thread, int64_t nanoseconds);
void wakeThread(Thread& thread);
/// Marks that this thread looks for work, and that it has stopped looking.
void beginSearch();
void endSearch(bool foundWork);
/// How many threads take part, and how many of them are awake.
uint32_t joinedThreads();
uint32_t awakeThreads();

/// Whether a thread without a queue has made something ready. Exact, and ordered against it like
/// RunQueue::emptyForSure().
bool anyInjected();
/// Counts one more thread of the runtime that takes no part.
void countEngineThread();
uint32_t engineThreads();

/// Every execution made so far, used or not. REQUIRES: nothing runs.
std::vector<Execution*> everyExecution();
/// Names every blocked execution and what it waits for. REQUIRES: nothing runs.
std::string describeDeadlock();

} // namespace strata::runtime
