// Threads that have nothing to do, how they are woken, and the moment when nothing can run any more. One mutex, the
// sleep lock, guards who is asleep; it is taken only on the way to sleep and to wake somebody, never while there is
// work.
#include "runtime/core/failure.h"
#include "runtime/core/parallel.h"
#include "runtime/core/process_threads.h"
#include "runtime/core/runtime.h"
#include "runtime/core/thread.h"

#include <algorithm>
#include <ctime>
#include <linux/futex.h>
#include <optional>
#include <string>
#include <sys/syscall.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace strata::runtime {
namespace {

enum Wake : uint32_t { Asleep, ForItself, ForWork };

struct Sleepers {
  std::mutex lock;
  Thread* first = nullptr;
  uint32_t outside = 0; // threads that take part and were not made by the runtime
  std::atomic<uint32_t> joined{0};
  std::atomic<uint32_t> asleep{0}; // counts those on the way to sleep as well
  uint32_t settled = 0;            // those in the list: they have found nothing to do
  std::atomic<uint32_t> searching{0};
  std::atomic<bool> foreign{false};
  std::atomic<uint32_t> engineThreads{0};
  std::atomic<uint32_t> beside{0}; // work that goes on outside of all executions

  void remove(Thread& thread) {
    for (Thread** at = &first; *at; at = &(*at)->nextAsleep) {
      if (*at != &thread)
        continue;
      *at = thread.nextAsleep;
      break;
    }
    thread.asleep = false;
    asleep.fetch_sub(1);
    --settled;
  }
};

Sleepers& sleepers() {
  static auto* instance = new Sleepers; // pool threads sleep through the end of the process
  return *instance;
}

/// Lets a thread go on whose `wake` says so already.
void rouse(Thread& thread) {
  syscall(__NR_futex, &thread.wake, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

bool anyQueued() {
  if (anyInjected())
    return true;
  for (uint32_t i = 0; i < threadSlots(); ++i)
    if (!threadSlot(i).queue.emptyForSure())
      return true;
  return false;
}

#ifdef STRATA_THREAD_SANITIZER
constexpr uint32_t toolThreads = 1; // the sanitizer's own
#else
constexpr uint32_t toolThreads = 0;
#endif

/// Whether the process has threads that may still call in, or may have.
bool foreignThreadsExist(uint32_t known) {
  const std::optional<uint32_t> count = countThreads();
  return !count || *count > known + toolThreads;
}

/// REQUIRES (here and below): the sleep lock is held.
bool allSleep(const Sleepers& shared) {
  return shared.settled == shared.joined.load() && shared.beside.load() == 0;
}

/// Whether nothing can run any more. False while a thread exists that may still call in, and when no thread at all, or
/// none from outside, sleeps here: then the process is about to end.
bool nothingCanRun(const Sleepers& shared) {
  if (!allSleep(shared) || shared.joined.load() == 0 || (shared.outside == 0 && !shared.foreign.load()))
    return false;
  return !(shared.foreign.load() && foreignThreadsExist(shared.joined.load() + shared.engineThreads.load()));
}

/// Sleeps for a while, or until the thread is woken; false when it is time to look again.
bool sleepFor(Thread& thread, int64_t nanoseconds) {
  const timespec time{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  syscall(__NR_futex, &thread.wake, FUTEX_WAIT_PRIVATE, Asleep, &time, nullptr, 0);
  return thread.wake.load(std::memory_order_acquire) != Asleep;
}

std::atomic<void (*)()> standstillHandler{nullptr};

[[noreturn]] void failDeadlocked() {
  if (void (*handler)() = standstillHandler.load())
    handler();
  fail("runtime-deadlock", describeDeadlock(),
       "give a stream more capacity, or change the order in which these wait for each other");
}

} // namespace

void setStandstillHandler(void (*handler)()) {
  standstillHandler.store(handler);
}

void joinSleepers(const Thread& thread) {
  Sleepers& shared = sleepers();
  std::lock_guard guard(shared.lock);
  shared.joined.fetch_add(1);
  shared.outside += !thread.pooled;
}

void leaveSleepers(const Thread& thread) {
  Sleepers& shared = sleepers();
  bool stuck = false;
  {
    std::lock_guard guard(shared.lock);
    shared.joined.fetch_sub(1);
    shared.outside -= !thread.pooled;
    stuck = nothingCanRun(shared) && !anyQueued() && !anyJobOpenForSure();
  }
  if (stuck)
    failDeadlocked();
  wakeForWork(); // what this thread leaves in its queue is for the others
}

void sleep(Thread& thread) {
  Sleepers& shared = sleepers();
  shared.asleep.fetch_add(1);
  bool stuck = false, maybeLater = false;
  {
    std::lock_guard guard(shared.lock);
    const bool notified = thread.native.state.load() == Execution::Notified;
    if (notified || anyQueued() || anyJobOpenForSure()) {
      shared.asleep.fetch_sub(1);
      return;
    }
    thread.asleep = true;
    thread.wake.store(Asleep, std::memory_order_relaxed);
    thread.nextAsleep = shared.first;
    shared.first = &thread;
    ++shared.settled;
    stuck = nothingCanRun(shared);
    maybeLater = !stuck && shared.foreign.load() && allSleep(shared);
  }
  if (stuck)
    failDeadlocked();
  // Threads elsewhere may end without a word: the last one that goes to sleep looks now and again.
  for (int64_t pause = 10'000'000; maybeLater && !sleepFor(thread, pause);
       pause = std::min<int64_t>(2 * pause, 1'000'000'000)) {
    std::unique_lock guard(shared.lock);
    maybeLater = thread.asleep && allSleep(shared); // else whoever is the last now looks
    if (maybeLater && nothingCanRun(shared)) {
      guard.unlock();
      failDeadlocked();
    }
  }
  while (thread.wake.load(std::memory_order_acquire) == Asleep)
    syscall(__NR_futex, &thread.wake, FUTEX_WAIT_PRIVATE, Asleep, nullptr, nullptr, 0);
  if (thread.wake.load(std::memory_order_relaxed) == ForWork)
    shared.searching.fetch_sub(1);
}

void wakeForWork() {
  Sleepers& shared = sleepers();
  if (shared.asleep.load() == 0 || shared.searching.load() != 0)
    return;
  Thread* thread = nullptr;
  {
    std::lock_guard guard(shared.lock);
    thread = shared.first;
    if (!thread)
      return;
    shared.remove(*thread);
    shared.searching.fetch_add(1); // on behalf of the one woken, so that the next wake-up waits until he has looked
    thread->wake.store(ForWork, std::memory_order_release);
  }
  rouse(*thread);
}

void napFor(Thread& thread, int64_t nanoseconds) {
  Sleepers& shared = sleepers();
  {
    std::lock_guard guard(shared.lock);
    if (thread.native.state.load() == Execution::Notified || anyJobOpenForSure())
      return;
    thread.naps = true;
    thread.wake.store(Asleep, std::memory_order_relaxed);
  }
  sleepFor(thread, nanoseconds);
  std::lock_guard guard(shared.lock);
  thread.naps = false;
}

void wakeThread(Thread& thread) {
  Sleepers& shared = sleepers();
  {
    std::lock_guard guard(shared.lock);
    if (thread.asleep)
      shared.remove(thread);
    else if (!std::exchange(thread.naps, false))
      return;
    // Under the lock: a nap may end by itself at any moment, and what is meant for it must not end the sleep after it.
    thread.wake.store(ForItself, std::memory_order_release);
  }
  rouse(thread);
}

void besideBegun() {
  sleepers().beside.fetch_add(1);
}

void besideEnded() {
  Sleepers& shared = sleepers();
  bool stuck = false;
  {
    std::lock_guard guard(shared.lock);
    stuck = shared.beside.fetch_sub(1) == 1 && nothingCanRun(shared) && !anyQueued() && !anyJobOpenForSure();
  }
  if (stuck)
    failDeadlocked();
}

void countEngineThread() {
  sleepers().engineThreads.fetch_add(1);
}

void beginSearch() {
  sleepers().searching.fetch_add(1);
}

void endSearch(bool foundWork) {
  Sleepers& shared = sleepers();
  if (shared.searching.fetch_sub(1) != 1 || !foundWork || shared.asleep.load() == 0)
    return;
  bool more = anyJobOpen() || anyInjected();
  for (uint32_t i = 0; !more && i < threadSlots(); ++i)
    more = threadSlot(i).queue.size() != 0;
  if (more)
    wakeForWork();
}

uint32_t engineThreads() {
  return sleepers().engineThreads.load();
}
uint32_t joinedThreads() {
  return sleepers().joined.load(std::memory_order_relaxed);
}
uint32_t awakeThreads() {
  const uint32_t asleep = sleepers().asleep.load(std::memory_order_relaxed);
  const uint32_t joined = joinedThreads();
  return joined > asleep ? joined - asleep : 0;
}

void setForeignThreads(bool mayCall) {
  sleepers().foreign.store(mayCall);
}

void appendName(const Execution& execution, std::string& out) {
  const StrataMachine* machine = execution.runContext ? execution.runContext->machine() : nullptr;
  if (machine && execution.processor < machine->processor_count) {
    out += machine->processors[execution.processor].name;
    out += " " + std::to_string(execution.instance);
    return;
  }
  out += execution.native ? "the calling thread" : "a fibre";
}

std::string describeDeadlock() {
  constexpr size_t listed = 16;
  std::vector<Execution*> blocked;
  for (Execution* execution : everyExecution())
    if (execution->state.load() == Execution::Parked && execution->wait.describe)
      blocked.push_back(execution);
  std::sort(blocked.begin(), blocked.end(), [](const Execution* a, const Execution* b) {
    return std::make_tuple(!a->native, a->processor, a->instance) <
           std::make_tuple(!b->native, b->processor, b->instance);
  });
  std::string text = "nothing can run any more: ";
  for (size_t i = 0; i < blocked.size() && i < listed; ++i) {
    text += i ? "; " : "";
    appendName(*blocked[i], text);
    text += " waits for ";
    blocked[i]->wait.describe(blocked[i]->wait.object, text);
  }
  if (blocked.size() > listed)
    text += "; and " + std::to_string(blocked.size() - listed) + " more wait";
  return text;
}

} // namespace strata::runtime
