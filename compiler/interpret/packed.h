// Converts arguments between the interpreter's form and the packed one, in which compiled code takes them: one pointer
// for each argument. That of a block leads to words of 64 bits {pointer, extents…, strides in elements…}, that of a
// scalar or record to its bytes.
#pragma once

#include "compiler/interpret/interpreter.h"

#include "mlir/IR/BuiltinTypes.h"

namespace strata::interpret {

/// The arguments of a function of such a type. Blocks and records stay where they are.
std::vector<Argument> unpacked(mlir::TypeRange types, void** packed);

/// Code behind a packed call as a kernel that stands in.
ExternalKernel standIn(std::function<void(void**)> code);

} // namespace strata::interpret
