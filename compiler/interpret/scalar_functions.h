// Operations on scalars as plain functions of bit patterns, found by the operation's name and type once, when a module
// is resolved. Everything here is pure and may be called from any thread.
#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>

namespace strata::interpret {

/// Integers of `width` bits lie in the low bits with the others zero, floats as their pattern. Unused operands are any
/// value.
using PureFunction = uint64_t (*)(uint64_t a, uint64_t b, uint64_t c, unsigned width);

/// The function of an arith or math operation on scalars, or null when there is none. `width` is what it has to be
/// called with: that of the operand for conversions from integers and comparisons, else that of the result. What MLIR
/// calls poison (a shift beyond the width, a conversion out of range) has a fixed value: 0 for shifts, the nearest
/// integer for conversions.
PureFunction scalarFunction(mlir::Operation* op, unsigned& width);

/// The same for an operation on two values of one type, by name ("arith.addf").
PureFunction namedFunction(llvm::StringRef name, mlir::Type type);

/// Bits of a scalar type: 64 for index, the width of integers up to 64 bits and of f16, bf16, f32, f64; 0 for others.
unsigned scalarWidth(mlir::Type type);

inline int64_t signExtend(uint64_t value, unsigned width) {
  return width == 0 ? 0 : static_cast<int64_t>(value << (64 - width)) >> (64 - width);
}
inline uint64_t lowBits(uint64_t value, unsigned width) {
  return width >= 64 ? value : value & ((uint64_t(1) << width) - 1);
}

} // namespace strata::interpret
