// Functions of the C library on many numbers at once, as kernels call them for the lanes of a register: each becomes
// what the C library gives for it, bit for bit, whether it is computed here or asked of the library. Functions of the
// environment alone; any thread.
#pragma once

#include <cstdint>

/// X(name): `strata_lanes_NAME_f32(values, count)` replaces each of `count` floats by the function of it, and
/// `strata_lanes_NAME_f64` doubles. Names are those of MLIR's dialect `math`.
#define STRATA_LANE_FUNCTIONS(X)                                                                                       \
  X(exp)                                                                                                               \
  X(exp2)                                                                                                              \
  X(expm1)                                                                                                             \
  X(log)                                                                                                               \
  X(log2)                                                                                                              \
  X(log10)                                                                                                             \
  X(log1p)                                                                                                             \
  X(sin)                                                                                                               \
  X(cos)                                                                                                               \
  X(tan)                                                                                                               \
  X(asin)                                                                                                              \
  X(acos)                                                                                                              \
  X(atan)                                                                                                              \
  X(sinh)                                                                                                              \
  X(cosh)                                                                                                              \
  X(tanh)                                                                                                              \
  X(asinh)                                                                                                             \
  X(acosh)                                                                                                             \
  X(atanh)                                                                                                             \
  X(cbrt)                                                                                                              \
  X(erf)

extern "C" {
#define STRATA_DECLARE_LANES(NAME)                                                                                     \
  void strata_lanes_##NAME##_f32(float* values, int64_t count);                                                        \
  void strata_lanes_##NAME##_f64(double* values, int64_t count);
STRATA_LANE_FUNCTIONS(STRATA_DECLARE_LANES)
#undef STRATA_DECLARE_LANES
}
