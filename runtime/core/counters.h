// Counters that compiled code adds to. In each run context, each thread has a table keyed by the address of the name;
// reading merges the tables by the names themselves.
#pragma once

#include "runtime/core/spin_lock.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace strata::runtime {

/// One thread's counters. add() is for the owner only; the rest may be called from any thread.
class CounterTable {
public:
  void add(const char* name, int64_t amount);
  void addTo(std::map<std::string, int64_t>& totals);
  void reset();

private:
  struct Slot {
    const char* name = nullptr;
    std::atomic<int64_t> value{0};
  };
  Slot* find(const char* name);

  SpinLock lock_; // held to grow and by readers; values are added to without it
  std::unique_ptr<Slot[]> slots_;
  size_t capacity_ = 0; // a power of two
  size_t used_ = 0;
};

} // namespace strata::runtime
