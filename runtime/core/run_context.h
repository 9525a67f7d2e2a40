// A run context: what one call of a compiled entry point holds, together with all that it starts: the machine with its
// stores, what is printed, the figures and the spans. It is reference-counted. The call is a user of it, and so is
// every token of work that the call starts, which may go on when the call has ended. When the last user releases it,
// the stores are given back. Any thread may retain, release and read it.
//
// Two calls share threads, engines, unused memory and the handler of failures, which are the process's: nothing by
// which one could affect the other's results. A failure ends the process.
//
// Invariants:
// 1. Every execution runs within a context. Who starts it, or waits for it, is a user of that context meanwhile; so are
//    executions that own theirs (Execution::ownsContext).
// 2. `machine` and `stores` never change.
// 3. The context outside of all calls has no machine, prints nothing and is never freed.
#pragma once

#include "runtime/abi.h"
#include "runtime/core/execution.h"
#include "runtime/core/print.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace strata::runtime {

class ContextFigures;

class RunContext {
public:
  /// What runtime/host makes of a machine, and how it is given back.
  using Stores = std::unique_ptr<const void, void (*)(const void*)>;

  /// Has one user, its maker. `around` is the context of the execution that makes it: prints of a nested call go to the
  /// output of the outer one.
  RunContext(const StrataMachine* machine, Stores stores, RunContext& around);
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  /// The context of everything that runs outside of entry points.
  static RunContext& outside();

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

  const StrataMachine* machine() const { return machine_; }
  const void* stores() const { return stores_.get(); }
  Output& output() { return printer_ ? printer_->output_ : output_; }
  /// Made when something is first counted or traced.
  ContextFigures& figures();
  /// Null when nothing has been.
  ContextFigures* figuresIfAny() const { return figures_.load(std::memory_order_acquire); }

private:
  RunContext() = default;
  ~RunContext();

  std::atomic<uint32_t> references_{1};
  const StrataMachine* const machine_ = nullptr;
  const Stores stores_{nullptr, nullptr};
  RunContext* printer_ = nullptr; // prints for this one, which is a user of it; null: this one itself
  Output output_;
  std::atomic<ContextFigures*> figures_{nullptr};
};

/// Has an execution run within a context, of which it takes over one use.
void enterContext(Execution& execution, RunContext* context);
/// Has it run outside of all, and ends its use if it has one.
void leaveContext(Execution& execution);

} // namespace strata::runtime
