// Kernels of equations in the dialect as systems, and back: what notations and svm-extract-equations write, and what
// targets and the interpreter read.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/equations/system.h"
#include "compiler/ir/svm.h"

#include <optional>
#include <vector>

namespace strata::equations {

/// A system without reductions, and the kernel's arguments that its parts stand for. A value that an equation's region
/// uses several times is a variable, with an equation of its own in front.
struct KernelSystem {
  System system;
  std::vector<unsigned> inputs, outputs, parameters; // argument numbers, in the system's order
};

/// Nothing for operations or sets that equations cannot hold (reported). REQUIRES: the operation verifies.
std::optional<KernelSystem> systemOf(svm::EquationsOp equations, DiagnosticEngine& diagnostics);

/// What of each other the operation's equations use, one for one: values are left out, and of elements of variables
/// none is. Nothing on errors (reported). REQUIRES: the operation verifies.
std::optional<System> usesOf(svm::EquationsOp equations, DiagnosticEngine& diagnostics);

/// Builds the operation at the builder's place. `inputs`, `outputs` and `parameters` are values for those of the
/// system, in its order; a scalar input's is the scalar. REQUIRES: no reductions.
svm::EquationsOp build(mlir::OpBuilder& builder, const System& system, mlir::ValueRange inputs,
                       mlir::ValueRange outputs, mlir::ValueRange parameters, const SourceManager& sources);

} // namespace strata::equations
