// How functions are spelt.
#include "compiler/cfamily/builtin.h"

namespace strata::cfamily {

const char* builtinName(Builtin builtin) {
  static constexpr const char* names[] = {"sqrt",  "rsqrt", "cbrt", "exp",  "exp2",  "log",  "log2",  "log10",
                                          "sin",   "cos",   "tan",  "asin", "acos",  "atan", "sinh",  "cosh",
                                          "tanh",  "atan2", "pow",  "fmod", "hypot", "fabs", "floor", "ceil",
                                          "trunc", "round", "fmin", "fmax", "fma",   "abs",  "min",   "max"};
  return names[static_cast<unsigned>(builtin)];
}

} // namespace strata::cfamily
