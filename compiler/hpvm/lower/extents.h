// Extents of nodes, which internal nodes compute of their inputs, as values of control code.
#pragma once

#include "base/source/diagnostic.h"

#include "mlir/IR/Builders.h"

#include "llvm/IR/Value.h"

#include <vector>

namespace strata::hpvm {

/// An index. `inputs` are those of the internal node's function. Null for what is not followed (reported).
mlir::Value lowerExtent(llvm::Value& extent, const std::vector<mlir::Value>& inputs, mlir::OpBuilder& builder,
                        mlir::Location place, DiagnosticEngine& diagnostics);

} // namespace strata::hpvm
