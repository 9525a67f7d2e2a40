// The scheduler: threads that run fibres, and the ways for an execution to block, to be woken and to start another.
// Everything that waits in this runtime waits through park() here, which is how a deadlock is seen the moment it
// happens.
//
// A program has `threads()` workers. The thread that calls in is one of them: it runs fibres while it is blocked. The
// others are made when there is first something for them to do. A thread made by the user that calls in takes part as
// well.
//
// All functions may be called from any thread and any fibre, unless a comment says otherwise.
//
// Invariants:
// 1. A fibre is in at most one run queue, and only when it neither runs nor is parked.
// 2. A thread goes to sleep only after it has seen, under the sleep lock, that no queue holds anything for it.
// 3. Only a thread that is awake puts anything into a queue, or an engine's between besideBegun() and besideEnded(). So
//    when the last thread is asleep and no engine at work nothing can run any more, and if a thread from outside is
//    among the blocked, that is a deadlock.
// 4. After a call that may have parked, thread-local addresses computed before are stale: the fibre may have moved.
#pragma once

#include "runtime/core/execution.h"
#include "runtime/core/run_context.h"

#include <cstdint>

namespace strata::runtime {

/// The execution that calls. Makes the thread known to the runtime on its first call.
Execution* current();
/// The same, null on a thread that has not called in. Safe in a signal handler.
Execution* currentIfAny();

/// Within which context an execution runs, and as which processor of its machine.
struct Role {
  RunContext* context = &RunContext::outside();
  uint32_t processor = Execution::noProcessor;
  int64_t instance = 0;
  int64_t span = 1;
};
/// Makes a fibre that runs run(argument) in that role and lets it begin. REQUIRES: the context has a user until the
/// fibre has left it (leaveContext) or ended.
void start(void (*run)(void*), void* argument, const Role& role);
/// The role that an execution acts in.
inline Role roleOf(const Execution& execution) {
  return {execution.runContext, execution.processor, execution.instance, execution.span};
}

/// Makes a thread that does work beside all executions, such as a machine's engine, for as long as the process lives.
/// It may complete tokens, unpark and start; it must not park. False when the system gives no more threads.
bool makeEngineThread(void (*run)());
/// Work outside of all executions begins, and ends; in between a standstill is no deadlock. Executions that the end
/// wakes are woken before besideEnded().
void besideBegun();
void besideEnded();

/// Blocks until unpark. May return without one (a spurious wakeup).
void park(const Wait& wait);
/// Blocks like park, for callers whose waker tests for a waiter without a memory fence. `ready(wait.object, execution)`
/// is called now and again, also while others poll on this thread, at the latest before it sleeps, and each time after
/// a fence in all threads; when it holds the execution is unparked. REQUIRES: the object's memory is never unmapped.
void parkUnfenced(const Wait& wait, bool (*ready)(const void* object, const Execution* execution));
/// True when such a waker has to execute a fence itself, because the system offers none across threads.
extern bool wakerNeedsFence;
/// Lets an execution go on that is parked, or that is about to park.
void unpark(Execution* execution);
/// Lets others run.
void yield();
/// Ends the calling fibre where it stands; frames that it is in are not unwound. REQUIRES: the caller is a fibre of
/// start(), and nothing that it holds outlives it.
[[noreturn]] void endFibre();
/// Sets the function that is called, instead of the failure "runtime-deadlock", when nothing can run any more, or when
/// all threads from outside have ended and nothing is left to do; null: none. It ends the program. Nothing else runs
/// meanwhile.
void setStandstillHandler(void (*handler)());
/// Whether spinning pays: another thread runs, which may bring what the caller waits for within a microsecond, and
/// there is nothing else to do on this one.
bool worthSpinning();
/// Whether no thread but the caller has ever taken part, or works for the runtime.
bool isAlone();
/// Wakes a sleeping thread after a job has been published (parallel.h).
void announceJob();
/// A fibre that is not in any queue yet. For start() and parallel.cpp.
Execution* makeFibre(void (*run)(void*), void* argument, const Role& role);

} // namespace strata::runtime
