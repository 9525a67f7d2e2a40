// The floating-point part of scalar_functions.h, by the operation's name and format. Pure.
#pragma once

#include "compiler/interpret/scalar_functions.h"
#include "llvm/ADT/StringRef.h"

namespace strata::interpret {

enum class FloatFormat { F16, BF16, F32, F64 };
std::optional<FloatFormat> floatFormat(mlir::Type type);

/// An arith or math operation whose operands and result have one format (fpowi: and an integer as its second operand).
PureFunction floatOperation(llvm::StringRef name, FloatFormat format);
/// arith.cmpf with a predicate of arith's numbering.
PureFunction floatComparison(unsigned predicate, FloatFormat format);
PureFunction floatToFloat(FloatFormat from, FloatFormat to);
PureFunction floatToInteger(FloatFormat from, bool isSigned);
/// Whether that has a result: what is left of the number when it is cut is within the integer type's limits.
PureFunction floatFitsInteger(FloatFormat from, bool isSigned);
PureFunction integerToFloat(FloatFormat to, bool isSigned);

} // namespace strata::interpret
