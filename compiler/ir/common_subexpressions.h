// Common subexpression elimination in time in proportion to the program. MLIR's own pass looks, for each load that it
// has seen before, at all operations in between, which takes minutes in a kernel of thousands of statements.
#pragma once

#include "mlir/Pass/Pass.h"

namespace strata::svm {

/// Replaces an operation without effects by an equal one that dominates it, and a load by an equal one of the same
/// block where nothing between them may write. Erases operations that are not used. Any operation, any stage; nothing
/// is moved.
std::unique_ptr<mlir::Pass> createCommonSubexpressionsPass();

} // namespace strata::svm
