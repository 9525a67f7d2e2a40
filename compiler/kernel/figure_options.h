// Figures of the hardware as options of passes (passes.def): what a user writes for one is checked as what a machine
// states of it.
#pragma once

#include "base/machine/figures.h"

#include "mlir/IR/Diagnostics.h"

namespace strata::kernel {

struct FigureOption {
  llvm::StringLiteral name, meaning;
  uint64_t usual; ///< its value without a machine
};

/// One constant for each option, by its identifier.
namespace options {
#define FIGURE_OPTION(pass, identifier, name, figure, meaning)                                                         \
  inline constexpr FigureOption identifier{{name}, {meaning}, machine::Figures().figure};
#include "compiler/ir/passes.def"
} // namespace options

/// Whether a pass's option has a value that the figure takes; reports where not.
inline bool isPossible(mlir::MLIRContext* context, const machine::FigureRule& rule, uint64_t value) {
  if (!rule.holds(value))
    mlir::emitError(mlir::UnknownLoc::get(context))
        << "a figure '" << rule.field << "' of " << value << "; " << rule.takes();
  return rule.holds(value);
}

} // namespace strata::kernel
