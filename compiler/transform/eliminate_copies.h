// Copies that need not be made: a block that only mirrors part of another in the same memory becomes a view of it.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a placed program. A block that is filled from, or emptied to, one view in its own memory is replaced by that
/// view, when nothing can tell the difference: no copy is made for a stride-1 range block within one memory. Each move
/// that goes leaves an svm.count of "moves elided".
std::unique_ptr<mlir::Pass> createEliminateCopiesPass();
} // namespace strata::transform
