// Implements the table of threads, the pool, fibres' lives, and the choice of what a thread runs next. Sleeping and
// waking are in sleep.cpp.
#include "runtime/core/scheduler.h"

#include "runtime/core/failure.h"
#include "runtime/core/parallel.h"
#include "runtime/core/runtime.h"
#include "runtime/core/stack_guard.h"
#include "runtime/core/thread.h"
#include "runtime/core/trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace strata::runtime {

bool wakerNeedsFence = false;

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t cachedFibres = 256;
constexpr size_t mostUnfenced = 1024;
constexpr uint32_t looksBeforeSteal = 12; // a lone entry of a queue is left to its owner for about half a microsecond
constexpr auto longSpin = std::chrono::microseconds(30);
constexpr auto shortSpin = std::chrono::microseconds(2); // where threads share cores
constexpr auto leastSpin = std::chrono::microseconds(1);
constexpr int spinShare = 32; // of the time that a thread works it looks for work one part in so many
constexpr auto shortWork = std::chrono::microseconds(150); // less does not pay for being woken
constexpr auto nap = std::chrono::microseconds(300);

int membarrier(int command) {
  return static_cast<int>(syscall(__NR_membarrier, command, 0, 0));
}

/// What the threads share. Lives as long as the process: pool threads sleep through its end.
struct Scheduler {
  std::mutex lock; // the table and the pool
  std::array<std::atomic<Thread*>, mostThreads> slots{};
  std::atomic<uint32_t> slotCount{0};
  std::vector<Thread*> freeThreads;
  std::vector<std::thread> pool;
  std::vector<Thread*> poolThreads;
  std::atomic<bool> poolStarted{false};
  std::atomic<uint32_t> threadCount;
  const uint32_t cores;

  RunQueue injected; // by threads that have no queue: engines, and such as have ended
  SpinLock fibreLock;
  Execution* freeFibres = nullptr;
  std::vector<Execution*> fibres;

  Scheduler() : cores(std::max(1u, std::thread::hardware_concurrency())) {
    threadCount = std::min(cores, mostWorkers);
    wakerNeedsFence = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
  }
};

Scheduler& scheduler() {
  static auto* instance = new Scheduler;
  return *instance;
}

// Initial-exec: one load relative to the thread pointer, also in position-independent code.
__attribute__((tls_model("initial-exec"))) thread_local Thread* callingThread = nullptr;

void flushUnfenced(Thread& thread);
Execution* pick(Thread& thread);

/// Hands the thread object over to the next thread that calls in.
void detach(Thread& thread) {
  flushUnfenced(thread);
  // One that is left alone looks into no other queue.
  while (Execution* fibre = thread.queue.pop())
    scheduler().injected.push(fibre);
  leaveContext(thread.native);
  thread.native.arena.clear();
  thread.native.spans.clear();
  thread.stacks.flush();
  leaveSleepers(thread);
  callingThread = nullptr;
  Scheduler& shared = scheduler();
  std::lock_guard guard(shared.lock);
  shared.freeThreads.push_back(&thread);
}

struct DetachAtExit {
  Thread* thread = nullptr;
  ~DetachAtExit() {
    if (thread)
      detach(*std::exchange(thread, nullptr));
  }
};
thread_local DetachAtExit detachAtExit;

/// The same for a main thread that ends by pthread_exit, whose thread_local variables the C library leaves alone.
pthread_key_t detachKey() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void*) { detachAtExit.~DetachAtExit(); });
    return made;
  }();
  return key;
}

Thread& attach(bool pooled) {
  Scheduler& shared = scheduler();
  Thread* thread = nullptr;
  {
    std::lock_guard guard(shared.lock);
    if (!shared.freeThreads.empty()) {
      thread = shared.freeThreads.back();
      shared.freeThreads.pop_back();
    } else if (shared.slotCount.load() < mostThreads) {
      thread = new Thread;
      thread->index = shared.slotCount.load();
      shared.slots[thread->index].store(thread, std::memory_order_release);
      shared.slotCount.fetch_add(1, std::memory_order_release);
    }
  }
  if (!thread)
    fail("runtime-threads", "more than " + std::to_string(mostThreads) + " threads use the runtime");
  thread->pooled = pooled;
  thread->ends.store(false);
  thread->native.native = thread;
  thread->native.state.store(Execution::Running);
  thread->native.runContext = &RunContext::outside();
  thread->native.processor = Execution::noProcessor;
  thread->native.instance = 0;
  thread->running = &thread->native;
  adoptThread(thread->native.context);
  thread->exceptions = exceptionsOfThread();
  guardStacks();
  callingThread = thread;
  detachAtExit.thread = thread;
  pthread_setspecific(detachKey(), thread);
  joinSleepers(*thread);
  return *thread;
}

// ---- fibres ----

void enqueue(Execution* execution);

void recycle(Execution* fibre) {
  Thread& thread = thisThread();
  thread.stacks.give(fibre->context.stack);
  fibre->context.stack = {};
  retireFibre(fibre->context);
  leaveContext(*fibre);
  fibre->arena.clear();
  fibre->spans.clear();
  if (thread.freeFibreCount < cachedFibres) {
    fibre->next = thread.freeFibres;
    thread.freeFibres = fibre;
    ++thread.freeFibreCount;
    return;
  }
  Scheduler& shared = scheduler();
  std::lock_guard guard(shared.fibreLock);
  fibre->next = shared.freeFibres;
  shared.freeFibres = fibre;
}

/// Does with an execution that has just been left what it asked for. Another thread may resume a parked one at once.
void settle(Execution* left) {
  switch (left->leave) {
  case Execution::Leave::Stay:
    break;
  case Execution::Leave::Park: {
    uint32_t running = Execution::Running;
    if (!left->state.compare_exchange_strong(running, Execution::Parked, std::memory_order_acq_rel))
      enqueue(left); // unparked while it was leaving
    break;
  }
  case Execution::Leave::Requeue:
    thisThread().queue.pushYielded(left);
    wakeForWork();
    break;
  case Execution::Leave::End:
    recycle(left);
    break;
  }
}

void leaveFor(Execution& from, Execution& to, Execution::Leave how);

#ifdef STRATA_ADDRESS_SANITIZER
__attribute__((no_sanitize("address"))) // its frame is never left, and the stack is used again
#endif
void runFibre(void* left) {
  settle(static_cast<Execution*>(left));
  Execution* me = thisThread().running;
  me->run(me->argument);
  endFibre();
}

void leaveFor(Execution& from, Execution& to, Execution::Leave how) {
  Thread& thread = thisThread();
  from.leave = how;
  if (!to.context.saved && !to.native) {
    to.context.stack = thread.stacks.take();
    prepareFibre(to.context, runFibre);
  }
  thread.running = &to;
  from.context.exceptions = std::exchange(*thread.exceptions, to.context.exceptions);
  void* left = switchFibre(from.context, to.context, &from, how == Execution::Leave::End);
  settle(static_cast<Execution*>(left));
}

// ---- the pool ----

void work(Thread& thread);

void startPool() {
  Scheduler& shared = scheduler();
  if (shared.poolStarted.load(std::memory_order_acquire))
    return;
  std::lock_guard guard(shared.lock);
  if (shared.poolStarted.load())
    return;
  for (uint32_t i = 1; i < shared.threadCount.load(); ++i) {
    try {
      shared.pool.emplace_back([] {
        Thread& thread = attach(true);
        thread.native.state.store(Execution::Parked); // before stopPool can know this thread
        {
          std::lock_guard guard(scheduler().lock);
          scheduler().poolThreads.push_back(&thread);
        }
        work(thread);
      });
    } catch (const std::system_error&) {
      shared.threadCount = i; // the system gives no more; fewer do as well
    }
  }
  shared.poolStarted.store(true, std::memory_order_release);
}

/// Ends all threads of the pool, and says how many the next one has. What is made ready meanwhile may start that one at
/// once: a thread that has handed on the last of the work may still be on its way out of enqueue().
void stopPool(uint32_t next) {
  Scheduler& shared = scheduler();
  std::vector<std::thread> pool;
  while (true) { // a thread that has only just been made is not in the table yet
    std::lock_guard guard(shared.lock);
    if (shared.poolThreads.size() < shared.pool.size())
      continue;
    for (Thread* thread : shared.poolThreads) {
      thread->ends.store(true);
      unpark(&thread->native);
    }
    shared.poolThreads.clear();
    pool.swap(shared.pool);
    shared.poolStarted = false;
    shared.threadCount = next;
    break;
  }
  for (std::thread& thread : pool)
    thread.join();
}

// ---- what to run ----

// Never inlined, for the same reason as thisThread().
__attribute__((noinline)) Thread* threadIfAny() {
  asm volatile("");
  return callingThread;
}

void enqueue(Execution* execution) {
  Thread* thread = threadIfAny();
  (thread ? thread->queue : scheduler().injected).push(execution);
  startPool();
  wakeForWork();
}

bool notified(const Execution& execution) {
  return execution.state.load(std::memory_order_acquire) == Execution::Notified;
}

/// What this thread runs next, without looking into other threads' queues; null when there is nothing.
Execution* pick(Thread& thread) {
  if (notified(thread.native))
    return &thread.native;
  if (RunQueue& injected = scheduler().injected; injected.size())
    if (Execution* fibre = injected.pop())
      return fibre;
  // Fibres that only yield to each other must not keep the rest of a job from beginning, nor one asleep that was
  // missed.
  if ((++thread.tick & 255) == 0)
    flushUnfenced(thread);
  if ((thread.tick & 15) == 0 && anyJobOpen())
    if (Execution* fibre = joinOpenJob())
      return fibre;
  if (Execution* fibre = thread.queue.pop())
    return fibre;
  return anyJobOpen() ? joinOpenJob() : nullptr;
}

/// Takes from another thread's queue. A lone fibre has probably just been woken by its owner's present fibre, which
/// will soon block for it: it is taken only once the owner has let it wait a while.
Execution* steal(Thread& thief) {
  const uint32_t count = threadSlots();
  thief.seenPops.resize(mostThreads);
  thief.seenLooks.resize(mostThreads);
  for (uint32_t i = 1; i < count; ++i) {
    const uint32_t index = (thief.index + i) % count;
    Thread& victim = threadSlot(index);
    const uint32_t size = victim.queue.size();
    if (size == 0) {
      thief.seenLooks[index] = 0;
      continue;
    }
    const uint32_t pops = victim.queue.pops();
    if (thief.seenPops[index] != pops)
      thief.seenLooks[index] = 0;
    thief.seenPops[index] = pops;
    if (size < 2 && ++thief.seenLooks[index] < looksBeforeSteal)
      continue;
    if (Execution* fibre = victim.queue.pop())
      return fibre;
  }
  return nullptr;
}

/// Looks everywhere for a while, then sleeps. Null when there may be something new to pick. To look, to sleep and to be
/// woken cost time, which a thread has as far as it works in between: one that gets little to do at a time naps, during
/// which the others neither wake it nor count on it, and leaves to them what they can do themselves.
Execution* search(Thread& thread) {
  if (joinedThreads() > 1) {
    const Scheduler& shared = scheduler();
    const auto begin = Clock::now();
    const Clock::duration most = joinedThreads() <= shared.cores ? longSpin : shortSpin;
    const Clock::duration worked = begin - thread.foundAt;
    thread.mayLook = std::min(most, thread.mayLook + worked / spinShare);
    const Clock::duration spin = thread.mayLook;
    if (spin < leastSpin && worked < shortWork && !thread.hasNapped && awakeThreads() > 1) {
      flushUnfenced(thread);
      thread.hasNapped = true;
      napFor(thread, std::chrono::nanoseconds(nap).count());
      return nullptr;
    }
    beginSearch();
    do {
      for (int round = 0; round < 8; ++round) {
        Execution* found = pick(thread);
        if (!found)
          found = steal(thread);
        if (found) {
          endSearch(true);
          thread.foundAt = Clock::now();
          thread.mayLook = std::max(Clock::duration(0), spin - (thread.foundAt - begin));
          thread.hasNapped = false;
          return found;
        }
        for (int i = 0; i < 8; ++i)
          pause();
      }
    } while (Clock::now() - begin < spin);
    endSearch(false);
    thread.mayLook = Clock::duration(0);
  }
  flushUnfenced(thread);
  sleep(thread);
  thread.foundAt = Clock::now();
  thread.hasNapped = false;
  return nullptr;
}

/// Runs fibres on this thread until its own stack may go on.
void runUntilNotified(Thread& thread) {
  while (!notified(thread.native)) {
    Execution* next = pick(thread);
    if (!next)
      next = search(thread);
    if (next && next != &thread.native)
      leaveFor(thread.native, *next, Execution::Leave::Stay);
  }
}

/// REQUIRES: the thread's own stack counts as parked.
void work(Thread& thread) {
  do {
    runUntilNotified(thread);
    thread.native.state.exchange(Execution::Parked);
  } while (!thread.ends.load());
  thread.native.state.store(Execution::Running);
}

void flushUnfenced(Thread& thread) {
  if (thread.unfenced.empty())
    return;
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  for (const Unfenced& entry : thread.unfenced)
    if (entry.ready(entry.object, entry.execution))
      unpark(entry.execution);
  thread.unfenced.clear();
}

} // namespace

// A function of its own that is never inlined, so that no caller keeps the address across a switch.
__attribute__((noinline)) Thread& thisThread() {
  asm volatile("");
  Thread* thread = callingThread;
  return __builtin_expect(thread != nullptr, 1) ? *thread : attach(false);
}

uint32_t threadSlots() {
  return scheduler().slotCount.load(std::memory_order_acquire);
}
Thread& threadSlot(uint32_t index) {
  return *scheduler().slots[index].load(std::memory_order_acquire);
}

bool anyInjected() {
  return !scheduler().injected.emptyForSure();
}

bool makeEngineThread(void (*run)()) {
  try {
    countEngineThread();
    std::thread(run).detach();
    return true;
  } catch (const std::system_error&) {
    return false; // whoever waits for what the thread would have done does it himself
  }
}

std::vector<Execution*> everyExecution() {
  Scheduler& shared = scheduler();
  std::vector<Execution*> all;
  for (uint32_t i = 0; i < threadSlots(); ++i)
    if (!threadSlot(i).pooled)
      all.push_back(&threadSlot(i).native);
  std::lock_guard guard(shared.fibreLock);
  all.insert(all.end(), shared.fibres.begin(), shared.fibres.end());
  return all;
}

Execution* current() {
  return thisThread().running;
}
Execution* currentIfAny() {
  return callingThread ? callingThread->running : nullptr;
}

Execution* makeFibre(void (*run)(void*), void* argument, const Role& role) {
  Thread* thread = threadIfAny(); // none: an engine's
  Execution* fibre = thread ? thread->freeFibres : nullptr;
  if (fibre) {
    thread->freeFibres = fibre->next;
    --thread->freeFibreCount;
  } else {
    Scheduler& shared = scheduler();
    std::lock_guard guard(shared.fibreLock);
    fibre = shared.freeFibres;
    if (fibre) {
      shared.freeFibres = fibre->next;
    } else {
      fibre = new Execution;
      shared.fibres.push_back(fibre);
    }
  }
  fibre->run = run;
  fibre->argument = argument;
  fibre->runContext = role.context;
  fibre->processor = role.processor;
  fibre->instance = role.instance;
  fibre->span = role.span;
  fibre->job = nullptr;
  fibre->state.store(Execution::Running, std::memory_order_relaxed);
  return fibre;
}

void start(void (*run)(void*), void* argument, const Role& role) {
  enqueue(makeFibre(run, argument, role));
}

void park(const Wait& wait) {
  Thread& thread = thisThread();
  Execution* me = thread.running;
  uint32_t running = Execution::Running;
  me->wait = wait;
  const int64_t begin = wait.traced && isTracing(*me) ? traceClock() : 0;
  if (me->native) {
    if (me->state.compare_exchange_strong(running, Execution::Parked, std::memory_order_acq_rel))
      runUntilNotified(thread);
  } else if (!notified(*me)) {
    Execution* next = pick(thread);
    leaveFor(*me, next ? *next : thread.native, Execution::Leave::Park);
  }
  me->state.exchange(Execution::Running, std::memory_order_acq_rel);
  if (begin)
    traceWait(*me, wait.traced, begin, traceClock());
}

void parkUnfenced(const Wait& wait, bool (*ready)(const void*, const Execution*)) {
  Thread& thread = thisThread();
  if (!wakerNeedsFence && joinedThreads() > 1) {
    thread.unfenced.push_back({wait.object, ready, thread.running});
    if (thread.unfenced.size() >= mostUnfenced)
      flushUnfenced(thread);
  }
  park(wait);
}

void unpark(Execution* execution) {
  if (execution->state.exchange(Execution::Notified, std::memory_order_acq_rel) != Execution::Parked)
    return;
  if (execution->native)
    wakeThread(*execution->native);
  else
    enqueue(execution);
}

void endFibre() {
  Thread& thread = thisThread();
  Execution* me = thread.running;
  Execution* next = pick(thread);
  leaveFor(*me, next ? *next : thread.native, Execution::Leave::End);
  __builtin_unreachable();
}

void yield() {
  Thread& thread = thisThread();
  Execution* me = thread.running;
  // All that is here polls. What it polls for may need this core.
  if (std::exchange(thread.sweep, thread.queue.sweeps()) != thread.queue.sweeps() &&
      joinedThreads() > scheduler().cores)
    sched_yield();
  // A notification that came late, of something that has ended meanwhile, is not a reason to stay.
  if (me->native && notified(*me))
    me->state.exchange(Execution::Running, std::memory_order_acq_rel);
  Execution* next = pick(thread);
  if (!next || next == me) {
    if (joinedThreads() > 1 && (thread.tick & 7) == 0)
      sched_yield(); // what is polled for may need this core
    return;
  }
  if (!me->native) {
    leaveFor(*me, *next, Execution::Leave::Requeue);
    return;
  }
  me->state.store(Execution::Notified); // so that the others come back here at the first occasion
  leaveFor(*me, *next, Execution::Leave::Stay);
  me->state.exchange(Execution::Running, std::memory_order_acq_rel);
}

bool worthSpinning() {
  Thread& thread = thisThread();
  return thread.queue.size() == 0 && awakeThreads() > 1 && !notified(thread.native) && !anyJobOpen() &&
         joinedThreads() <= scheduler().cores;
}

bool isAlone() {
  return !scheduler().poolStarted.load() && joinedThreads() <= 1 && engineThreads() == 0;
}

void announceJob() {
  startPool();
  wakeForWork();
}

void setThreads(uint32_t n) {
  if (n > mostWorkers)
    fail("runtime-threads", std::to_string(n) + " threads to run on, and there can be " + std::to_string(mostWorkers),
         "0 is as many as the computer has cores");
  Scheduler& shared = scheduler();
  stopPool(n ? n : std::min(shared.cores, mostWorkers));
}

std::optional<uint32_t> threadsInEnvironment() {
  const char* text = std::getenv("STRATA_THREADS");
  if (!text || !*text)
    return 0;
  uint32_t number = 0;
  const char* end = text + std::strlen(text);
  const auto [at, failed] = std::from_chars(text, end, number);
  return failed == std::errc() && at == end && number >= 1 && number <= mostWorkers ? std::optional(number)
                                                                                    : std::nullopt;
}

std::string threadsHelp() {
  return "set it to a number of worker threads from 1 to " + std::to_string(mostWorkers) +
         ", or leave it out: then there are as many as the computer has cores";
}

uint32_t threads() {
  return scheduler().threadCount.load(std::memory_order_relaxed);
}

} // namespace strata::runtime
