// Which operation of equations an operation of MLIR is: what equations are read by, and what loops become equations by.
#pragma once

#include "compiler/equations/graph.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace strata::equations {

struct Meaning {
  Operation operation = Operation::Copy;
  bool isUnsigned = false, isOperandUnsigned = false; // how it reads and writes integers
  bool isSwapped = false;                             // the operands are the other way round
};

/// Nothing where equations have no such operation. REQUIRES: the operation has one result.
std::optional<Meaning> meaningOf(mlir::Operation* op);

/// The operand whose type is that of the operands: all of them, but for the condition of a selection.
mlir::Value typedOperand(mlir::Operation* op, const Meaning& meaning);

/// Nothing for types that are no elements (indices, vectors, records, numbers of other sizes).
std::optional<ElementType> elementTypeOf(mlir::Type type, bool isUnsigned = false);

} // namespace strata::equations
