// What LLVM knows of one function: its loops, who dominates whom, and how its integers evolve.
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CodeMetrics.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

namespace strata::raise {

/// Valid while the function does not change.
struct Analyses {
  explicit Analyses(llvm::Function& function)
      : function(function), layout(function.getParent()->getDataLayout()), dominators(function),
        postDominators(function), loops(dominators), assumptions(function),
        libraryTable(llvm::Triple(function.getParent()->getTargetTriple())), library(libraryTable),
        evolution(function, library, assumptions, dominators, loops) {
    llvm::CodeMetrics::collectEphemeralValues(&function, &assumptions, ephemeral);
    if (llvm::any_of(ephemeral, [](const llvm::Value* each) { return llvm::isa<llvm::PHINode>(each); }))
      ephemeral.clear(); // phis are looked at by the edges that lead to them
  }
  Analyses(const Analyses&) = delete;

  /// Whether an instruction does nothing but tell LLVM what may be assumed.
  bool isAssumption(const llvm::Instruction& instruction) const { return ephemeral.contains(&instruction); }

  llvm::Function& function;
  const llvm::DataLayout& layout;
  llvm::DominatorTree dominators;
  llvm::PostDominatorTree postDominators;
  llvm::LoopInfo loops;
  llvm::AssumptionCache assumptions;
  llvm::TargetLibraryInfoImpl libraryTable;
  llvm::TargetLibraryInfo library;
  llvm::ScalarEvolution evolution;
  llvm::SmallPtrSet<const llvm::Value*, 32> ephemeral;
};

} // namespace strata::raise
