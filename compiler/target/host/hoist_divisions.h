// Divisions under a condition that a loop does not change, in LLVM's form of a program, before its vectoriser.
#pragma once

#include "llvm/IR/PassManager.h"

namespace strata::host {

/// Computes, before a loop, what divisions and remainders under a condition in it come to where neither operand changes
/// in the loop, with a divisor of 1 where the operation would trap. LLVM 19's vectoriser computes such an operation for
/// the first lane only, under that lane's condition, and uses it as an address in lanes whose conditions hold when the
/// first one's does not. The test of this pass notices when the vectoriser no longer does; then this can go.
struct HoistDivisionsPass : llvm::PassInfoMixin<HoistDivisionsPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

} // namespace strata::host
