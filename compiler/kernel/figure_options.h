// Figures of the hardware as options of passes, as in --svm-vectorize-lanes=vector=32. A value is checked by the same
// rule as in the description of a machine.
#pragma once

#include "base/machine/figures.h"

#include "mlir/IR/Diagnostics.h"

namespace strata::kernel {

/// Whether a pass's option has a value that the figure takes; reports where not.
inline bool isPossible(mlir::MLIRContext* context, const machine::FigureRule& rule, uint64_t value) {
  if (!rule.holds(value))
    mlir::emitError(mlir::UnknownLoc::get(context))
        << "a figure '" << rule.field << "' of " << value << "; " << rule.takes();
  return rule.holds(value);
}

} // namespace strata::kernel
