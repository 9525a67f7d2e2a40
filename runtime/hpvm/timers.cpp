// Timers of the host's phases (hpvm_timers.h): a set of them, of which one runs at a time.
#include "include/hpvm_timers.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr const char* names[hpvm_TimerID_LAST] = {"none",         "input and output", "kernel",
                                                  "copy",         "driver",           "asynchronous copy",
                                                  "compute",      "overlap",          "begin",
                                                  "end",          "copy value",       "copy array",
                                                  "free",         "read output",      "set up",
                                                  "track",        "untrack",          "other",
                                                  "make threads", "pack arguments",   "unpack arguments",
                                                  "computation",  "pack outputs",     "unpack outputs"};

unsigned long long now() {
  using namespace std::chrono;
  return static_cast<unsigned long long>(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

void print(hpvm_TimerSet* timers, const char* name) {
  hpvm_SwitchToTimer(timers, timers->current); // what runs counts until here
  for (int timer = hpvm_TimerID_NONE + 1; timer < hpvm_TimerID_LAST; ++timer)
    if (timers->elapsed[timer])
      std::printf("%s%s%-17s %.6f s\n", name ? name : "", name ? ": " : "", names[timer],
                  static_cast<double>(timers->elapsed[timer]) * 1e-9);
  std::fflush(stdout);
}

} // namespace

void hpvm_InitializeTimerSet(hpvm_TimerSet* timers) noexcept {
  *timers = {};
}

void hpvm_SwitchToTimer(hpvm_TimerSet* timers, hpvm_TimerID timer) noexcept {
  const unsigned long long time = now();
  if (timers->current > hpvm_TimerID_NONE && timers->current < hpvm_TimerID_LAST)
    timers->elapsed[timers->current] += time - timers->since;
  timers->current = timer;
  timers->since = time;
}

void hpvm_PrintTimerSet(hpvm_TimerSet* timers) noexcept {
  print(timers, nullptr);
}

void hpvm_DestroyTimerSet(hpvm_TimerSet*) noexcept {}

void* llvm_hpvm_initializeTimerSet() noexcept {
  return std::calloc(1, sizeof(hpvm_TimerSet));
}

void llvm_hpvm_switchToTimer(void** timers, hpvm_TimerID timer) noexcept {
  if (timers && *timers)
    hpvm_SwitchToTimer(static_cast<hpvm_TimerSet*>(*timers), timer);
}

void llvm_hpvm_printTimerSet(void** timers, char* name) noexcept {
  if (timers && *timers)
    print(static_cast<hpvm_TimerSet*>(*timers), name);
}
