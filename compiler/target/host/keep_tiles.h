// A pass over LLVM IR: innermost loops that work on vectors were put in tiles by the kernel compiler (compiler/kernel),
// which has chosen how many registers go side by side. LLVM's vectoriser leaves them alone, and they are not unrolled
// by counts that are known only when the program runs: that would spill registers, and make short rows slow.
#pragma once

#include "llvm/IR/PassManager.h"

namespace strata::host {

struct KeepTilesPass : llvm::PassInfoMixin<KeepTilesPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

} // namespace strata::host
