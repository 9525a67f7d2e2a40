// The functions that notations with C's expressions have built in.
#pragma once

#include <cstdint>

namespace strata::cfamily {

/// Arguments have the type of the result.
enum class Builtin : uint8_t {
  Sqrt,
  Rsqrt,
  Cbrt,
  Exp,
  Exp2,
  Log,
  Log2,
  Log10,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Atan2,
  Pow,
  Fmod,
  Hypot,
  Fabs,
  Floor,
  Ceil,
  Trunc,
  Round,
  Fmin,
  Fmax,
  Fma,
  Abs, // of the argument's own type, integers included
  Min, // of the common type of both
  Max
};
/// As it is written.
const char* builtinName(Builtin builtin);

} // namespace strata::cfamily
