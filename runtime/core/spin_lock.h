// A lock for critical sections of a few instructions, and the pause that a spinning loop makes. Usable with
// std::lock_guard from any thread. A holder never blocks, switches fibres or calls out.
#pragma once

#include <atomic>
#include <sched.h>

namespace strata::runtime {

/// Tells the processor that this is a waiting loop.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class SpinLock {
public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) {
      for (int tries = 0; locked_.load(std::memory_order_relaxed); ++tries) {
        if (tries < 64)
          pause();
        else
          sched_yield(); // the holder lost its core
      }
    }
  }
  bool try_lock() { return !locked_.exchange(true, std::memory_order_acquire); }
  void unlock() { locked_.store(false, std::memory_order_release); }

private:
  std::atomic<bool> locked_{false};
};

} // namespace strata::runtime
