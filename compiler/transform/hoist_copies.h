// Copies that need to be made once, not in every iteration.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a placed and distributed program. A block in a loop's scope whose extents and whose moves' other sides do not
/// use the loop's variable moves out of the loop with its moves, and so on outwards, under a guard that the loop has
/// iterations. Each hoisted move leaves an svm.count of "moves hoisted" where it stood.
std::unique_ptr<mlir::Pass> createHoistCopiesPass();
} // namespace strata::transform
