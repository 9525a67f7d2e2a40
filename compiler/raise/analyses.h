// What LLVM knows of one function: its loops, who dominates whom, and how its integers evolve.
#pragma once

#include "llvm/Analysis/AssumptionCache.h"
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
        evolution(function, library, assumptions, dominators, loops) {}
  Analyses(const Analyses&) = delete;

  llvm::Function& function;
  const llvm::DataLayout& layout;
  llvm::DominatorTree dominators;
  llvm::PostDominatorTree postDominators;
  llvm::LoopInfo loops;
  llvm::AssumptionCache assumptions;
  llvm::TargetLibraryInfoImpl libraryTable;
  llvm::TargetLibraryInfo library;
  llvm::ScalarEvolution evolution;
};

} // namespace strata::raise
