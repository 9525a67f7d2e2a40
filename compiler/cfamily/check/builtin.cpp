// How functions are spelt, and what they take.
#include "compiler/cfamily/check/builtin.h"

namespace strata::cfamily {

const char* builtinName(Builtin builtin) {
  static constexpr const char* names[] = {"sqrt",  "rsqrt", "cbrt", "exp",  "exp2",  "log",  "log2",  "log10",
                                          "sin",   "cos",   "tan",  "asin", "acos",  "atan", "sinh",  "cosh",
                                          "tanh",  "atan2", "pow",  "fmod", "hypot", "fabs", "floor", "ceil",
                                          "trunc", "round", "fmin", "fmax", "fma",   "abs",  "min",   "max"};
  return names[static_cast<unsigned>(builtin)];
}

std::optional<Builtin> findBuiltin(std::string_view name) {
  for (unsigned number = 0; number < builtinCount; ++number)
    if (name == builtinName(static_cast<Builtin>(number)))
      return static_cast<Builtin>(number);
  return std::nullopt;
}

unsigned argumentsOf(Builtin builtin) {
  switch (builtin) {
  case Builtin::Fma:
    return 3;
  case Builtin::Atan2:
  case Builtin::Pow:
  case Builtin::Fmod:
  case Builtin::Hypot:
  case Builtin::Fmin:
  case Builtin::Fmax:
  case Builtin::Min:
  case Builtin::Max:
    return 2;
  default:
    return 1;
  }
}

} // namespace strata::cfamily
