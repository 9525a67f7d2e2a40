// Values that loops and choices within a loop hand on, as variables: what is raised has them as results of operations,
// and the kernel compiler takes the iterations of a loop together where they are variables of an iteration.
#pragma once

#include "mlir/IR/Region.h"

namespace strata::raise {

/// REQUIRES: `body` is that of a structured kernel.
void carryInVariables(mlir::Region& body);

} // namespace strata::raise
