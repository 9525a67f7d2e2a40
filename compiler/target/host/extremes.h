// The least and the greatest of two real numbers, exactly: -0 is less than 0, whichever comes first. So a result is the
// same whether it is computed before the program runs, when it runs, in lanes, or by the interpreter.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace strata::host {

/// Writes comparisons and choices in the place of arith.minimumf, maximumf, minnumf and maxnumf, of which MLIR's own
/// expansion gives the second of two zeros. Two numbers take three operations more than there; one that is a constant
/// takes none more.
void expandExtremes(mlir::ModuleOp program);

} // namespace strata::host
