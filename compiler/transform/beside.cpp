// Both questions are answered function by function first: who is called from a concurrent loop, and who holds or calls
// something that orders. Kernels whose body is not at hand order when they say that they share what they write, or take
// streams.
#include "compiler/transform/beside.h"

#include "compiler/ir/transfer.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

/// The functions that a piece of code calls.
void eachCallee(Operation* from, SymbolTable& symbols, llvm::function_ref<void(func::FuncOp)> body) {
  from->walk([&](func::CallOp call) {
    if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
      body(callee);
  });
}

} // namespace

Beside::Beside(ModuleOp program) : symbols_(program) {
  for (auto kernel : program.getOps<KernelOp>()) {
    const bool isOpen = kernel.isStructured()
                            ? kernel.getBody()
                                  .walk([&](Operation* op) {
                                    return isOrderingAlone(op) ? WalkResult::interrupt() : WalkResult::advance();
                                  })
                                  .wasInterrupted()
                            : kernel.isShared() || kernel.canBlock();
    if (isOpen)
      ordering_.insert(kernel);
  }
  // A function orders when what it calls does, so that callers follow until nothing is added.
  llvm::DenseMap<Operation*, SmallVector<func::FuncOp>> callers;
  SmallVector<func::FuncOp> work;
  auto addOrdering = [&](func::FuncOp function) {
    if (ordering_.insert(function).second)
      work.push_back(function);
  };
  for (auto function : program.getOps<func::FuncOp>()) {
    eachCallee(function, symbols_, [&](func::FuncOp callee) { callers[callee].push_back(function); });
    function.walk([&](Operation* op) {
      hasTokens_ |= llvm::any_of(op->getResultTypes(), llvm::IsaPred<TokenType>);
      if (isOrderingAlone(op))
        addOrdering(function);
    });
  }
  while (!work.empty())
    for (func::FuncOp caller : callers.lookup(work.pop_back_val()))
      addOrdering(caller);
  auto addConcurrent = [&](func::FuncOp function) {
    if (concurrent_.insert(function).second)
      work.push_back(function);
  };
  program.walk([&](Operation* op) {
    if (isConcurrent(op))
      eachCallee(op, symbols_, addConcurrent);
  });
  while (!work.empty())
    eachCallee(work.pop_back_val(), symbols_, addConcurrent);
}

bool Beside::hasCompany(Operation* op) const {
  if (hasTokens_)
    return true;
  for (Operation* up = op->getParentOp(); up; up = up->getParentOp())
    if (isConcurrent(up))
      return true;
    else if (isa<func::FuncOp>(up))
      return concurrent_.contains(up);
  return false;
}

bool Beside::isOrderingAlone(Operation* op) const {
  if (auto run = dyn_cast<RunOp>(op)) {
    auto kernel = symbols_.lookup<KernelOp>(run.getKernel());
    return !run.getAfter().empty() || !kernel || ordering_.contains(kernel);
  }
  if (std::optional<Transfer> transfer = transferOf(op))
    return !transfer->after.empty();
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = symbols_.lookup<func::FuncOp>(call.getCallee());
    return callee && ordering_.contains(callee);
  }
  return isa<FenceOp, PauseOp, PushOp, PopOp, PeekOp, EndOp, WaitOp, BarrierOp>(op);
}

bool Beside::isOrdering(Operation* op) const {
  return op
      ->walk([&](Operation* inner) { return isOrderingAlone(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

bool Beside::isOrderedBetween(Operation* first, Operation* last) const {
  if (!hasCompany(first))
    return false;
  for (Operation* op = first->getNextNode(); op; op = op->getNextNode()) {
    if (isOrdering(op))
      return true;
    if (op == last)
      break;
  }
  return false;
}

} // namespace strata::transform
