// Parallel jobs: many instances of one body, claimed in chunks by whichever threads are free. Publishing a job costs
// the same however many instances or threads there are. The caller takes part itself, so a job never waits for a
// thread.
//
// Any execution may run a job, also from inside an instance of another. When an instance blocks, other fibres claim the
// remaining ones; so with chunks of one instance all of them make progress.
//
// Invariants:
// 1. A job is in the open list exactly while it has instances that nobody has claimed.
// 2. `participants` counts the fibres that have joined and not left. They join only while the job is open, under the
//    list's lock.
// 3. The job lives on the caller's stack until it is closed and without participants.
#pragma once

#include "runtime/core/scheduler.h"
#include "runtime/core/spin_lock.h"
#include "runtime/core/wait_list.h"

#include <atomic>
#include <cstdint>

namespace strata::runtime {

struct ParallelJob {
  void (*body)(void* context, int64_t instance) = nullptr;
  void* context = nullptr;
  int64_t instances = 0;
  int64_t chunk = 1;
  Role role{};                 // of instance 0
  int64_t step = 1;            // instance i acts as role.instance + i * step
  Execution* caller = nullptr; // unparked whenever the participants have gone

  alignas(64) std::atomic<int64_t> claimed{0};
  alignas(64) std::atomic<int64_t> participants{0};

  // Guarded by the list's lock.
  ParallelJob* previous = nullptr;
  ParallelJob* next = nullptr;
  bool open = false;

  // Of a concurrent job: which instances go in circles (poll.h); null for others.
  struct Rounds* rounds = nullptr;

  // A barrier for all instances.
  SpinLock barrierLock{};
  int64_t arrived = 0;
  int64_t ended = 0; // of a concurrent job: instances that come to no barrier any more
  WaitList barrier{};
  const StrataCheck* barrierCheck = nullptr; // of those that wait, the first in the program's text; null: not told
};

/// Runs instances 0 … instances-1 and returns when all have ended. `concurrent`: all make progress, so that they may
/// wait for each other. The role's instance is that of instance 0; `step` is from one to the next.
void runParallel(void (*body)(void* context, int64_t instance), void* context, int64_t instances, bool concurrent,
                 const Role& role, int64_t step = 1);
/// Waits until every instance of the innermost job has come here; nothing outside of jobs. Fails with `check`
/// (strata_barrier_at) when all others have ended; null: without a place.
void waitAtBarrier(const StrataCheck* check);

/// A new fibre that has joined an open job, or null. Called by the scheduler.
Execution* joinOpenJob();
/// A hint whether any job is open.
bool anyJobOpen();
/// Exact, and ordered against publishing.
bool anyJobOpenForSure();

} // namespace strata::runtime
