// Spans of a trace, kept per thread until they are written as JSON that Chrome and Perfetto read.
#pragma once

#include "runtime/core/spin_lock.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace strata::runtime {

/// A span that has ended. `process` is the name of the processor's class, null for code that runs as none.
struct Span {
  const char* name;
  const char* process;
  int64_t instance;
  int64_t start, end; // nanoseconds of the monotonic clock
};

/// One thread's spans. The owner adds, any thread reads.
class TraceBuffer {
public:
  void add(const Span& span) {
    std::lock_guard guard(lock_);
    spans_.push_back(span);
  }
  void copyTo(std::vector<Span>& all) {
    std::lock_guard guard(lock_);
    all.insert(all.end(), spans_.begin(), spans_.end());
  }
  void clear() {
    std::lock_guard guard(lock_);
    spans_.clear();
  }

private:
  SpinLock lock_;
  std::vector<Span> spans_;
};

} // namespace strata::runtime
