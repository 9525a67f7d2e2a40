// Loops that may go on for ever.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a logical program and leaves an svm.stay in every scf.while that does nothing but read, and write local
/// variables: without it such a loop would be erased, although what stands behind it is not reached where it does not
/// end.
std::unique_ptr<mlir::Pass> createKeepLoopsPass();
} // namespace strata::transform
