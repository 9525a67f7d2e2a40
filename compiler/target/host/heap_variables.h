// Large local variables, in LLVM's form of a program, after everything else: they go to scratch memory.
#pragma once

#include "llvm/IR/PassManager.h"

namespace strata::host {

/// A function keeps so many bytes of variables on its stack; the largest that are more lie in scratch memory of the
/// runtime. One rule for every function, since the same code runs on the stack of a thread and on that of a fibre,
/// which is much smaller: whether it runs must not depend on which.
constexpr uint64_t mostStackBytes = 8 << 10;

/// Moves variables there, each function by itself. Functions that setjmp can come back to are left as they are.
struct HeapVariablesPass : llvm::PassInfoMixin<HeapVariablesPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; } // also of code that is not optimised
};

} // namespace strata::host
