// Implements run contexts: what makes one, what its last user gives back, and how executions change from one to
// another.
#include "runtime/core/run_context.h"

#include "runtime/core/figures.h"

#include <utility>

namespace strata::runtime {

RunContext::RunContext(const StrataMachine* machine, Stores stores, RunContext& around)
    : machine_(machine), stores_(std::move(stores)) {
  if (!around.output().isOpen())
    return;
  printer_ = around.printer_ ? around.printer_ : &around;
  printer_->retain();
}

RunContext::~RunContext() {
  if (printer_)
    printer_->release();
  delete figures_.load(std::memory_order_relaxed);
}

RunContext& RunContext::outside() {
  static auto* context = new RunContext; // threads may run to the end of the process
  return *context;
}

ContextFigures& RunContext::figures() {
  ContextFigures* known = figuresIfAny();
  if (known)
    return *known;
  auto made = std::make_unique<ContextFigures>();
  if (figures_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel))
    return *made.release();
  return *known;
}

void enterContext(Execution& execution, RunContext* context) {
  leaveContext(execution);
  execution.runContext = context;
  execution.ownsContext = true;
}

void leaveContext(Execution& execution) {
  RunContext* before = std::exchange(execution.runContext, &RunContext::outside());
  if (std::exchange(execution.ownsContext, false))
    before->release();
}

} // namespace strata::runtime
