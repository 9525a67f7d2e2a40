// The figures of a run context: the counters and spans that code compiled for them leaves behind, a set for each
// thread. A thread adds to its own; any thread reads.
#pragma once

#include "runtime/core/counters.h"
#include "runtime/core/thread.h"
#include "runtime/core/trace.h"

#include <array>
#include <atomic>

namespace strata::runtime {

class ContextFigures {
public:
  struct OfThread {
    CounterTable counters;
    TraceBuffer trace;
  };

  ContextFigures() = default;
  ~ContextFigures() {
    for (auto& each : threads_)
      delete each.load(std::memory_order_relaxed);
  }
  ContextFigures(const ContextFigures&) = delete;
  ContextFigures& operator=(const ContextFigures&) = delete;

  /// REQUIRES: the calling thread is `thread`.
  OfThread& of(const Thread& thread) {
    std::atomic<OfThread*>& own = threads_[thread.index];
    if (!own.load(std::memory_order_relaxed))
      own.store(new OfThread, std::memory_order_release);
    return *own.load(std::memory_order_relaxed);
  }
  template <typename Body>
  void forEachThread(Body body) {
    for (auto& each : threads_)
      if (OfThread* figures = each.load(std::memory_order_acquire))
        body(*figures);
  }

  /// Spans that any thread adds, engines too.
  TraceBuffer shared;
  /// Messages between processes. Nothing runs while it is used.
  std::vector<Arrow> arrows;
  /// Whether code compiled for tracing has run.
  std::atomic<bool> tracing{false};

private:
  std::array<std::atomic<OfThread*>, mostThreads> threads_{};
};

} // namespace strata::runtime
