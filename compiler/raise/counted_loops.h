// Loops that are for loops: with one exit, at the head or the latch, and a number of iterations that can be computed in
// front of them.
#pragma once

#include "compiler/raise/analyses.h"
#include "compiler/raise/polynomial.h"

namespace strata::raise {

struct CountedLoop {
  /// Grows by one an iteration; the loop's variable goes where it goes. Null: there is none, and the loop's variable
  /// counts the iterations from 0.
  llvm::PHINode* variable = nullptr;
  const llvm::SCEVAddRecExpr* recurrence = nullptr; // of the variable
  Widening widening = Widening::Signed;
  llvm::BasicBlock* exiting = nullptr;
  bool exitsAtLatch = false;         // also of a loop that is one block
  const llvm::SCEV* taken = nullptr; // how often the loop goes back to its head
};

/// Finds each loop's form once.
class CountedLoops {
public:
  explicit CountedLoops(Analyses& analyses) : analyses_(analyses) {}

  /// Null for other loops.
  const CountedLoop* of(const llvm::Loop* loop);

private:
  std::optional<CountedLoop> find(const llvm::Loop* loop);
  bool isKnownBefore(const llvm::SCEV* expression, const llvm::Loop* loop);
  const llvm::SCEV* distanceToEnd(const llvm::Loop* loop);

  Analyses& analyses_;
  std::map<const llvm::Loop*, std::optional<CountedLoop>> known_;
};

} // namespace strata::raise
