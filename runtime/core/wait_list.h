// A list of executions that wait for one event, such as the end of a task or the last arrival at a barrier. Any thread.
//
// Invariants:
// 1. A Waiter lives on the stack of the execution that waits, from add() until its `woken` is set.
// 2. Whoever detaches a list reads a waiter's fields before he sets `woken`, after which the waiter may be gone.
#pragma once

#include "runtime/core/execution.h"
#include "runtime/core/scheduler.h"

#include <atomic>

namespace strata::runtime {

struct Waiter {
  Execution* execution;
  Waiter* next = nullptr;
  std::atomic<bool> woken{false};
};

/// Not synchronised itself: its owner guards it with his lock.
class WaitList {
public:
  void add(Waiter& waiter) {
    waiter.next = first_;
    first_ = &waiter;
  }
  /// Empties the list; wake() then works without the lock.
  Waiter* detach() {
    Waiter* waiters = first_;
    first_ = nullptr;
    return waiters;
  }
  static void wake(Waiter* waiters) {
    while (Waiter* waiter = waiters) {
      waiters = waiter->next;
      Execution* execution = waiter->execution;
      waiter->woken.store(true, std::memory_order_release);
      unpark(execution);
    }
  }
  static void waitFor(Waiter& waiter, const Wait& wait) {
    while (!waiter.woken.load(std::memory_order_acquire))
      park(wait);
  }

private:
  Waiter* first_ = nullptr;
};

} // namespace strata::runtime
