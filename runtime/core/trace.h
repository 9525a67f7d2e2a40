// Spans of a trace, kept per run context and thread until they are written as JSON that Chrome and Perfetto read. Moves
// are shown on rows of their own, beside the processor that started them; a row shows one move at a time, so that a
// processor with several under way has several rows.
#pragma once

#include "runtime/core/execution.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/spin_lock.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace strata::runtime {

/// A span that has ended. `process` is the name of the processor's class, null for code that runs as none.
struct Span {
  enum Kind { Run, Wait, Move };
  Kind kind;
  const char* name;
  const char* process;
  int64_t instance;
  int64_t start, end; // nanoseconds of the monotonic clock
  // Of a move: the machine, and where on it the move goes.
  const StrataMachine* machine = nullptr;
  const StrataWay* way = nullptr;
  int64_t bytes = 0;
  int64_t instances = 0; // of a node, which a run of it executes
  int32_t rank = 0;      // the process that it was in, of several
};

/// A message from one processor to another: rows of a trace, and times of this process's clock.
struct Arrow {
  const char* name;
  const char* from; // classes, as in a span
  int64_t fromInstance, begin;
  const char* to;
  int64_t toInstance, end;
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

int64_t traceClock();
/// The calling execution's context's spans, an enclosing one before those that it encloses. Any thread.
std::vector<Span> spansInOrder();
/// Adds spans of other processes, and messages, by this one's clock. What they point to outlives the run context.
void addSpans(const std::vector<Span>& spans, const std::vector<Arrow>& arrows);
/// Whether code compiled for tracing has run within the execution's run context.
bool isTracing(const Execution& execution);
/// Adds the span of a move that the processor of `role` started. Any thread.
void traceMove(const Role& role, const StrataWay& way, int64_t bytes, int64_t begin, int64_t end);
/// Adds the span of a wait of the calling execution.
void traceWait(const Execution& execution, const char* name, int64_t begin, int64_t end);

/// A move that the calling execution carries out and waits for, from here to the end of the scope: a span of the move,
/// and one of the execution.
class WaitedMove {
public:
  WaitedMove(const StrataWay& way, int64_t bytes);
  ~WaitedMove();
  WaitedMove(const WaitedMove&) = delete;
  WaitedMove& operator=(const WaitedMove&) = delete;

private:
  const StrataWay& way_;
  const int64_t bytes_, begin_;
};

} // namespace strata::runtime
