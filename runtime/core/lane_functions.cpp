// exp, log, sin and cos of floats are computed in registers by the operations that glibc computes them by for one
// number, in doubles, so that they come out the same; where the library gives something else for one of some thousands
// of numbers, as another version of it may, and on processors without fused multiply-adds, it is asked for each. All
// other functions are asked for each.
//
// Source of the algorithms: Szabolcs Nagy, ARM optimized routines (2017, 2018), which glibc has from 2.28 on.
#include "runtime/core/lane_functions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace strata::runtime {
namespace {

template <typename T, T (*function)(T)>
void oneByOne(T* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    values[i] = function(values[i]);
}

#if defined(__x86_64__)

#define STRATA_INLINE __attribute__((always_inline)) static inline

STRATA_INLINE double fused(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

/// e^x = 2^(k / 32) e^r, with 2^(i / 32) from a table and a polynomial for the rest.
struct Exp {
  static constexpr unsigned parts = 32;
  /// The bits of 2^(i / 32), less those that k adds to the exponent.
  static const uint64_t* table() {
    static const std::array<uint64_t, parts> made = [] {
      std::array<uint64_t, parts> bits{};
      for (unsigned i = 0; i < parts; ++i)
        bits[i] = std::bit_cast<uint64_t>(static_cast<double>(std::exp2(i / 32.0L))) - (uint64_t(i) << 47);
      return bits;
    }();
    return made.data();
  }
  STRATA_INLINE float of(float x, const uint64_t* table) {
    constexpr double toParts = 0x1.71547652b82fep+0 * parts, shift = 0x1.8p+52;
    constexpr double c0 = 0x1.c6af84b912394p-5 / parts / parts / parts, c1 = 0x1.ebfce50fac4f3p-3 / parts / parts,
                     c2 = 0x1.62e42ff0c52d6p-1 / parts;
    const double whole = fused(toParts, x, shift); // whose last bits are k
    const auto k = std::bit_cast<uint64_t>(whole);
    const double r = fused(toParts, x, -(whole - shift));
    const auto power = std::bit_cast<double>(table[k % parts] + (k << 47));
    const double p = fused(fused(c0, r, c1), r * r, fused(c2, r, 1)) * power;
    float result = static_cast<float>(p);
    result = x > 0x1.62e42ep6f ? std::numeric_limits<float>::infinity() : result;
    result = x < -0x1.9fe368p6f ? 0 : result;
    return x != x ? x + x : result;
  }
  STRATA_INLINE bool isUsual(float) { return true; }
  static float library(float x) { return std::exp(x); }
};

/// log x = k log 2 + log c + log(z / c), where c is the middle of one of 16 pieces of the mantissas.
struct Log {
  struct Piece {
    double inverse, log; // of its middle
  };
  static const Piece* table() {
    static constexpr std::array<Piece, 16> pieces = {{{0x1.661ec79f8f3bep+0, -0x1.57bf7808caadep-2},
                                                      {0x1.571ed4aaf883dp+0, -0x1.2bef0a7c06ddbp-2},
                                                      {0x1.49539f0f010bp+0, -0x1.01eae7f513a67p-2},
                                                      {0x1.3c995b0b80385p+0, -0x1.b31d8a68224e9p-3},
                                                      {0x1.30d190c8864a5p+0, -0x1.6574f0ac07758p-3},
                                                      {0x1.25e227b0b8eap+0, -0x1.1aa2bc79c81p-3},
                                                      {0x1.1bb4a4a1a343fp+0, -0x1.a4e76ce8c0e5ep-4},
                                                      {0x1.12358f08ae5bap+0, -0x1.1973c5a611cccp-4},
                                                      {0x1.0953f419900a7p+0, -0x1.252f438e10c1ep-5},
                                                      {0x1p+0, 0x0p+0},
                                                      {0x1.e608cfd9a47acp-1, 0x1.aa5aa5df25984p-5},
                                                      {0x1.ca4b31f026aap-1, 0x1.c5e53aa362eb4p-4},
                                                      {0x1.b2036576afce6p-1, 0x1.526e57720db08p-3},
                                                      {0x1.9c2d163a1aa2dp-1, 0x1.bc2860d22477p-3},
                                                      {0x1.886e6037841edp-1, 0x1.1058bc8a07ee1p-2},
                                                      {0x1.767dcf5534862p-1, 0x1.4043057b6ee09p-2}}};
    return pieces.data();
  }
  STRATA_INLINE float of(float x, const Piece* table) {
    const auto bits = std::bit_cast<uint32_t>(x);
    const bool isSmall = bits < 0x00800000;
    const uint32_t normal = isSmall ? std::bit_cast<uint32_t>(x * 0x1p23f) - (uint32_t(23) << 23) : bits;
    const uint32_t above = normal - 0x3f330000;
    const Piece& piece = table[(above >> 19) % 16];
    const auto k = static_cast<double>(static_cast<int32_t>(above) >> 23);
    const double z = std::bit_cast<float>(normal - (above & 0xff800000));
    const double r = fused(z, piece.inverse, -1), whole = fused(k, 0x1.62e42fefa39efp-1, piece.log), r2 = r * r;
    const double p = fused(-0x1.00ea348b88334p-2, r2, fused(0x1.5575b0be00b6ap-2, r, -0x1.ffffef20a4123p-2));
    float result = static_cast<float>(fused(p, r2, whole + r));
    result = x == std::numeric_limits<float>::infinity() ? x : result;
    result = !(x >= 0) ? std::numeric_limits<float>::quiet_NaN() : result;
    return x == 0 ? -std::numeric_limits<float>::infinity() : result;
  }
  STRATA_INLINE bool isUsual(float x) { return x >= 0; } // signs of what is no number are the library's
  static float library(float x) { return std::log(x); }
};

/// x less the nearest multiple n of pi / 2, then a polynomial for the sine or the cosine of that.
struct SinCos {
  struct None {};
  static const None* table() { return nullptr; }
  STRATA_INLINE double sine(double x, double x2) {
    const double x3 = x * x2, x7 = x3 * x2;
    return fused(x7, fused(x2, -0x1.994eb3774cf24p-13, 0x1.1107605230bc4p-7), fused(x3, -0x1.555545995a603p-3, x));
  }
  STRATA_INLINE double cosine(double x2, double sign) {
    const double x4 = x2 * x2, x6 = x4 * x2;
    const double high = fused(x2, sign * 0x1.99343027bf8c3p-16, sign * -0x1.6c087e89a359dp-10);
    const double low = fused(x2, sign * -0x1.ffffffd0c621cp-2, sign);
    return fused(x6, high, fused(x4, sign * 0x1.55553e1068f19p-5, low));
  }
  template <bool isCosine>
  STRATA_INLINE float of(float y) {
    const uint32_t top = (std::bit_cast<uint32_t>(y) >> 20) & 0x7ff;
    const bool isReduced = top < std::bit_cast<uint32_t>(0x1.921FB6p-1f) >> 20;
    const float bounded = isUsual(y) ? y : 0;
    const auto scaled = static_cast<int32_t>(bounded * 0x1.45F306DC9C883p+23);
    const int32_t n = isReduced ? 0 : (scaled + 0x800000) >> 24;
    const double x = isReduced ? bounded : fused(-static_cast<double>(n), 0x1.921FB54442D18p0, bounded);
    const double sign = ((n + 1) & 2) ? -1 : 1; // of the sine's argument
    const bool isCosineNow = ((n & 1) != 0) != isCosine;
    const double p = isCosineNow ? cosine(x * x, (n & 2) ? -1 : 1) : sine(x * sign, x * x);
    const bool isTiny = top < std::bit_cast<uint32_t>(0x1p-12f) >> 20;
    return isTiny ? (isCosine ? 1 : y) : static_cast<float>(p);
  }
  STRATA_INLINE bool isUsual(float y) { return y > -120 && y < 120; }
};
struct Sin : SinCos {
  STRATA_INLINE float of(float y, const None*) { return SinCos::of<false>(y); }
  static float library(float x) { return std::sin(x); }
};
struct Cos : SinCos {
  STRATA_INLINE float of(float y, const None*) { return SinCos::of<true>(y); }
  static float library(float x) { return std::cos(x); }
};

/// As many at a time as doubles fit a register, or two.
constexpr int64_t most = 8;

template <typename Function, typename Table>
STRATA_INLINE void ofEight(float* values, const Table* table) {
  float in[most], out[most];
  unsigned unusual = 0;
  std::memcpy(in, values, sizeof in);
  for (int64_t i = 0; i < most; ++i) {
    out[i] = Function::of(in[i], table);
    unusual |= !Function::isUsual(in[i]);
  }
  if (unusual)
    for (int64_t i = 0; i < most; ++i)
      if (!Function::isUsual(in[i]))
        out[i] = Function::library(in[i]);
  std::memcpy(values, out, sizeof out);
}

template <typename Function>
STRATA_INLINE void eightByEight(float* values, int64_t count) {
  const auto* table = Function::table();
  for (; count >= most; values += most, count -= most)
    ofEight<Function>(values, table);
  if (count > 0) {
    float rest[most] = {};
    std::copy_n(values, count, rest);
    ofEight<Function>(rest, table);
    std::copy_n(rest, count, values);
  }
}

template <typename Function>
__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma"))) void with512(float* values, int64_t count) {
  eightByEight<Function>(values, count);
}
template <typename Function>
__attribute__((target("avx2,fma"))) void with256(float* values, int64_t count) {
  eightByEight<Function>(values, count);
}

using Form = void (*)(float*, int64_t);

/// What is as fast as the processor allows, and says what the library says.
template <typename Function>
Form formOf() {
  const Form library = oneByOne<float, Function::library>;
  Form form = library;
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    form = with512<Function>;
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    form = with256<Function>;
  // Every exponent and both signs, with other mantissas each time.
  constexpr uint32_t step = 0x0007ffed;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    float ours = x;
    form(&ours, 1);
    const float theirs = Function::library(x);
    if (std::bit_cast<uint32_t>(ours) != std::bit_cast<uint32_t>(theirs) && !(ours != ours && theirs != theirs))
      return library;
  }
  return form;
}

template <typename Function>
void ofLanes(float* values, int64_t count) {
  static const Form form = formOf<Function>();
  form(values, count);
}

#else

struct Exp {
  static float library(float x) { return std::exp(x); }
};
struct Log {
  static float library(float x) { return std::log(x); }
};
struct Sin {
  static float library(float x) { return std::sin(x); }
};
struct Cos {
  static float library(float x) { return std::cos(x); }
};
template <typename Function>
void ofLanes(float* values, int64_t count) {
  oneByOne<float, Function::library>(values, count);
}

#endif

} // namespace
} // namespace strata::runtime

using namespace strata::runtime;

extern "C" {

void strata_lanes_exp_f32(float* values, int64_t count) {
  ofLanes<Exp>(values, count);
}
void strata_lanes_log_f32(float* values, int64_t count) {
  ofLanes<Log>(values, count);
}
void strata_lanes_sin_f32(float* values, int64_t count) {
  ofLanes<Sin>(values, count);
}
void strata_lanes_cos_f32(float* values, int64_t count) {
  ofLanes<Cos>(values, count);
}

#define STRATA_LIBRARY_F64(NAME)                                                                                       \
  void strata_lanes_##NAME##_f64(double* values, int64_t count) {                                                      \
    oneByOne<double, std::NAME>(values, count);                                                                        \
  }
STRATA_LANE_FUNCTIONS(STRATA_LIBRARY_F64)

#define STRATA_LIBRARY_F32(NAME)                                                                                       \
  void strata_lanes_##NAME##_f32(float* values, int64_t count) {                                                       \
    oneByOne<float, std::NAME>(values, count);                                                                         \
  }
STRATA_LIBRARY_F32(exp2)
STRATA_LIBRARY_F32(expm1)
STRATA_LIBRARY_F32(log2)
STRATA_LIBRARY_F32(log10)
STRATA_LIBRARY_F32(log1p)
STRATA_LIBRARY_F32(tan)
STRATA_LIBRARY_F32(asin)
STRATA_LIBRARY_F32(acos)
STRATA_LIBRARY_F32(atan)
STRATA_LIBRARY_F32(sinh)
STRATA_LIBRARY_F32(cosh)
STRATA_LIBRARY_F32(tanh)
STRATA_LIBRARY_F32(asinh)
STRATA_LIBRARY_F32(acosh)
STRATA_LIBRARY_F32(atanh)
STRATA_LIBRARY_F32(cbrt)
STRATA_LIBRARY_F32(erf)
}
