// How many loops are inlined into one function, in LLVM's form of a program, before everything else.
#pragma once

#include "llvm/IR/PassManager.h"

namespace strata::host {

/// Loops that one function may come to have by inlining. Several of LLVM's loop passes look, for each loop, at all that
/// stand before it, so that a function into which hundreds of kernels are inlined takes minutes; beside a loop, a call
/// costs nothing.
constexpr size_t mostInlinedLoops = 64;

/// Calls of functions that have loops are not inlined once their caller has that many. Calls of functions that are
/// always inlined are, and count.
struct LimitInliningPass : llvm::PassInfoMixin<LimitInliningPass> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};

} // namespace strata::host
