// Implements parallel jobs. One list of open jobs under one spin lock; claims go through an atomic counter in the job.
#include "runtime/core/parallel.h"

#include "runtime/core/poll.h"
#include "runtime/core/runtime.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

namespace strata::runtime {
namespace {

constexpr int64_t chunksPerThread = 8; // enough to even out instances of different lengths

struct OpenJobs {
  SpinLock lock;
  ParallelJob* first = nullptr;
  ParallelJob* last = nullptr;
  std::atomic<uint32_t> count{0};

  void insert(ParallelJob& job, bool atEnd) {
    job.previous = atEnd ? last : nullptr;
    job.next = atEnd ? nullptr : first;
    (job.previous ? job.previous->next : first) = &job;
    (job.next ? job.next->previous : last) = &job;
  }
  void remove(ParallelJob& job) {
    (job.previous ? job.previous->next : first) = job.next;
    (job.next ? job.next->previous : last) = job.previous;
  }
  void open(ParallelJob& job) {
    std::lock_guard guard(lock);
    insert(job, false);
    job.open = true;
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void close(ParallelJob& job) {
    std::lock_guard guard(lock);
    remove(job);
    job.open = false;
    count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }
  /// Joins the first job and puts it last, so that every open job gets its turn.
  ParallelJob* join() {
    std::lock_guard guard(lock);
    ParallelJob* job = first;
    if (!job)
      return nullptr;
    job->participants.fetch_add(1, std::memory_order_relaxed);
    if (job != last) {
      remove(*job);
      insert(*job, true);
    }
    return job;
  }
};

OpenJobs openJobs;

/// Fails when all instances have ended but those that wait at a barrier. REQUIRES: its lock is held.
void checkBarrier(const ParallelJob& job, std::unique_lock<SpinLock>& guard) {
  if (job.arrived == 0 || job.arrived + job.ended != job.instances)
    return;
  static constexpr StrataCheck unknown{"runtime-barrier",
                                       "{0} of {1} instances wait at a barrier, and all others have ended",
                                       "all instances must reach a barrier",
                                       nullptr,
                                       0,
                                       0};
  const StrataCheck* const check = job.barrierCheck ? job.barrierCheck : &unknown;
  const int64_t values[] = {job.arrived, job.instances};
  guard.unlock();
  strata_fail(check, values, 2);
}

void endInstance(ParallelJob& job) {
  std::unique_lock guard(job.barrierLock);
  ++job.ended;
  checkBarrier(job, guard);
}

void runClaimed(ParallelJob& job, Execution& execution) {
  while (true) {
    const int64_t begin = job.claimed.fetch_add(job.chunk, std::memory_order_relaxed);
    if (begin >= job.instances)
      return;
    const int64_t end = std::min(begin + job.chunk, job.instances);
    if (end == job.instances && job.open)
      openJobs.close(job);
    for (int64_t i = begin; i < end; ++i) {
      execution.instance = job.role.instance + i * job.step;
      job.body(job.context, i);
      if (job.rounds) {
        job.rounds->end();
        endInstance(job);
      }
    }
  }
}

void participate(void* argument) {
  auto& job = *static_cast<ParallelJob*>(argument);
  Execution* caller = job.caller;
  Execution& me = *current();
  me.job = &job;
  runClaimed(job, me);
  leaveContext(me); // which the caller is a user of
  if (job.participants.fetch_sub(1, std::memory_order_acq_rel) == 1)
    unpark(caller); // the job may be gone by now; executions never are
}

void waitForParticipants(ParallelJob& job) {
  const auto gone = [&] { return job.participants.load(std::memory_order_acquire) == 0; };
  for (int tries = 0; tries < 200 && !gone() && worthSpinning(); ++tries)
    pause();
  const Wait wait{[](const void*, std::string& out) { out += "the other instances of its parallel run"; }, &job,
                  "wait for the other parts"};
  while (!gone())
    park(wait);
}

} // namespace

void runParallel(void (*body)(void*, int64_t), void* context, int64_t instances, bool concurrent, const Role& role,
                 int64_t step) {
  if (instances <= 0)
    return;
  Execution& me = *current();
  const Role before = roleOf(me);
  ParallelJob* outer = me.job;
  ParallelJob job{body, context, instances, 1, role, step, &me};
  // Whatever an instance does: the others need it.
  const bool owned = std::exchange(me.ownsContext, false);
  std::optional<Rounds> rounds;
  if (concurrent)
    job.rounds = &rounds.emplace(instances);
  else
    job.chunk = std::max<int64_t>(1, instances / (threads() * chunksPerThread));
  me.job = &job;
  me.processor = role.processor;
  me.span = role.span;
  if (instances > 1) {
    openJobs.open(job);
    announceJob();
  }
  runClaimed(job, me);
  waitForParticipants(job);
  me.job = outer;
  if (me.ownsContext)
    leaveContext(me);
  me.runContext = before.context;
  me.ownsContext = owned;
  me.processor = before.processor;
  me.instance = before.instance;
  me.span = before.span;
}

void waitAtBarrier(const StrataCheck* check) {
  Execution& me = *current();
  ParallelJob* job = me.job;
  if (!job || job->instances == 1)
    return;
  Waiter waiter{&me};
  {
    std::unique_lock guard(job->barrierLock);
    if (++job->arrived == job->instances) {
      job->arrived = 0;
      job->barrierCheck = nullptr;
      Waiter* waiters = job->barrier.detach();
      guard.unlock();
      WaitList::wake(waiters);
      return;
    }
    const auto place = [](const StrataCheck* at) { return std::make_tuple(at->line, at->column); };
    if (check && (!job->barrierCheck || place(check) < place(job->barrierCheck)))
      job->barrierCheck = check;
    checkBarrier(*job, guard);
    job->barrier.add(waiter);
  }
  WaitList::waitFor(waiter, {[](const void* object, std::string& out) {
                               const auto* at = static_cast<const ParallelJob*>(object);
                               out += "a barrier that " + std::to_string(at->arrived) + " of " +
                                      std::to_string(at->instances) + " instances have reached";
                             },
                             job, "wait at a barrier"});
}

Execution* joinOpenJob() {
  ParallelJob* job = openJobs.join();
  return job ? makeFibre(participate, job, job->role) : nullptr;
}

bool anyJobOpen() {
  return openJobs.count.load(std::memory_order_relaxed) != 0;
}

bool anyJobOpenForSure() {
  std::lock_guard guard(openJobs.lock);
  return openJobs.first != nullptr;
}

} // namespace strata::runtime
