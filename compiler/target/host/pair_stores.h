// Joining two stores of 4 bytes side by side to one of 8, in LLVM's form of a program, after everything else.
#pragma once

#include "llvm/IR/PassManager.h"

namespace strata::host {

/// Two floats that go to neighbouring places one after the other, such as the parts of a complex number, go there at
/// once. Processors carry out one store a cycle or two, and more shuffles than that; LLVM's own vectorizer sees no gain
/// where each part comes from a place of its own. Values stay the same.
struct PairStoresPass : llvm::PassInfoMixin<PairStoresPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

} // namespace strata::host
