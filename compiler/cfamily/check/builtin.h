// The functions that notations with C's expressions have built in. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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
inline constexpr unsigned builtinCount = static_cast<unsigned>(Builtin::Max) + 1;
/// As it is written.
const char* builtinName(Builtin builtin);
/// The function of that name; nothing when there is none.
std::optional<Builtin> findBuiltin(std::string_view name);
/// How many arguments it takes.
unsigned argumentsOf(Builtin builtin);
/// Whether it takes integers too, and gives an integer of them; the others take and give reals.
inline bool takesIntegers(Builtin builtin) {
  return builtin >= Builtin::Abs;
}

} // namespace strata::cfamily
