"""What people write in C for operations that LLVM has an intrinsic for, and functions of C's library: expressions of a, b and c (an int) of
one type, defined for all their values. IDIOMS says for each type of a and b which there are; what has no form for the lanes of registers
stands in ALONE. HEADER has the functions that they call."""

import re

HEADER = r"""
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#define EACH(T, U, name, bits)                                                                                        \
  static inline T add_##name(T a, T b) { T r; return __builtin_add_overflow(a, b, &r) ? (T)(r ^ 5) : r; }              \
  static inline T sub_##name(T a, T b) { T r; return __builtin_sub_overflow(a, b, &r) ? (T)(r ^ 9) : r; }              \
  static inline T mul_##name(T a, T b) { T r; return __builtin_mul_overflow(a, b, &r) ? (T)(r ^ 3) : r; }              \
  static inline int over_##name(T a, T b) {                                                                            \
    T r;                                                                                                               \
    return __builtin_add_overflow(a, b, &r) + 2 * __builtin_sub_overflow(a, b, &r) + 4 * __builtin_mul_overflow(a, b, &r); \
  }                                                                                                                    \
  static inline T left_##name(T a, unsigned c) { return (T)((U)a << (c % bits) | (U)a >> (-c % bits)); }               \
  static inline T right_##name(T a, unsigned c) { return (T)((U)a >> (c % bits) | (U)a << (-c % bits)); }              \
  static inline T funnel_##name(T a, T b, unsigned c) { return (T)((U)a << (c % bits) | ((U)b >> 1) >> (~c % bits)); } \
  static inline T least_##name(T a, T b) { return a < b ? a : b; }                                                     \
  static inline T most_##name(T a, T b) { return a > b ? a : b; }                                                      \
  static inline T limited_##name(T a, T b) { T low = (T)(b & 15), high = (T)(low + 9); return a < low ? low : a > high ? high : a; } \
  static inline T chain_##name(T a, T b) { return a == 0 ? b : a == 1 ? (T)7 : a < b ? (T)(a ^ b) : b == 3 ? a : (T)1; } \
  static inline T magnitude_##name(T a) { return a < 0 ? (T)(0 - (U)a) : a; }                                          \
  static inline int order_##name(T a, T b) { return (a > b) - (a < b); }                                               \
  static inline T chosen_##name(T a, T b) {                                                                            \
    switch (a) {                                                                                                       \
    case 0: return b;                                                                                                  \
    case 1: return (T)((U)b + 1);                                                                                      \
    case 2: case 3: return 11;                                                                                         \
    case 7 ... 40: return (T)(b ^ 3);                                                                                  \
    case 100: b = (T)((U)b - 4); /* and on */                                                                          \
    default: return (T)((U)b - (U)a);                                                                                  \
    }                                                                                                                  \
  }
EACH(int8_t, uint8_t, i8, 8)
EACH(int16_t, uint16_t, i16, 16)
EACH(int32_t, uint32_t, i32, 32)
EACH(int64_t, uint64_t, i64, 64)
EACH(uint8_t, uint8_t, u8, 8)
EACH(uint16_t, uint16_t, u16, 16)
EACH(uint32_t, uint32_t, u32, 32)
EACH(uint64_t, uint64_t, u64, 64)
static inline int32_t plus(int32_t a, int32_t b) { /* saturating, as it is written in C */
  int64_t sum = (int64_t)a + b;
  return sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : (int32_t)sum;
}
static inline uint32_t carried(uint32_t a, uint32_t b) { uint32_t r = a + b; return r < a ? UINT_MAX : r; }
static inline uint32_t lessened(uint32_t a, uint32_t b) { return a > b ? a - b : 0; }
static inline uint32_t swapped(uint32_t a) { return a >> 24 | (a >> 8 & 0xff00) | (a << 8 & 0xff0000) | a << 24; }
static inline uint64_t ends(uint64_t a) { /* six bytes in the other order */
  return (a & 255) << 40 | (a >> 8 & 255) << 32 | (a >> 16 & 255) << 24 | (a >> 24 & 255) << 16 | (a >> 32 & 255) << 8 | (a >> 40 & 255);
}
static inline int32_t likely(int32_t a, int32_t b) {
  if (__builtin_expect(a > b, 1))
    return (int)((unsigned)a - ((unsigned)b & 7));
  if (__builtin_expect_with_probability(a == 5, 1, 0.9))
    return 1;
  return __builtin_constant_p(b) ? 17 : b;
}
static inline int32_t assumed(int32_t a, int32_t b) {
  int32_t small = a & 63;
  __builtin_assume(small >= 0);
  if (small > 63)
    __builtin_unreachable();
  return small / 3 + (b & 1);
}
static inline int32_t filled(int32_t a, int32_t b) { /* local arrays, set and copied */
  int32_t t[5], s[5];
  uint8_t bytes[8];
  memset(t, a & 255, sizeof t);
  t[(unsigned)b % 5] = b;
  memcpy(s, t, sizeof s);
  memmove(s + 1, s, 3 * sizeof *s);
  memmove(t, t + 2, 3 * sizeof *t);
  memset(bytes, 0, sizeof bytes);
  bytes[(unsigned)a % 8] = 1;
  memcpy(bytes + 2, &b, sizeof b);
  return (int32_t)((unsigned)s[2] + 3u * (unsigned)t[1] + bytes[(unsigned)b % 8]);
}
static inline uint64_t punned(uint64_t a, uint64_t b) { /* words that lie among bytes */
  uint8_t bytes[16];
  uint32_t half;
  uint64_t whole;
  memcpy(bytes, &a, 8);
  memcpy(bytes + 8, &b, 8);
  bytes[(b >> 3) % 16] ^= 0x5a;
  memcpy(&half, bytes + (a & 7), 4);
  memcpy(&whole, bytes + 3, 8);
  return whole ^ (uint64_t)half << 7;
}
static inline float pair(float a, float b) {
  struct two { float x, y; } p[2] = {{0}}, q;
  p[a < b].x = a;
  p[1].y = b;
  q = p[0];
  return q.x + q.y + p[1].x;
}
static inline uint64_t bits64(double x) { uint64_t r; memcpy(&r, &x, 8); return r; }
static inline uint32_t bits32(float x) { uint32_t r; memcpy(&r, &x, 4); return r; }
"""

INTEGERS = ["add_NAME(a, b)", "sub_NAME(a, b)", "mul_NAME(a, b)", "over_NAME(a, b)", "left_NAME(a, c)", "right_NAME(a, c)", "left_NAME(a, 3)", "right_NAME(a, 7)",
            "funnel_NAME(a, b, c)", "funnel_NAME(a, b, 5)", "least_NAME(a, b)", "most_NAME(a, b)", "limited_NAME(a, b)", "chain_NAME(a, b)",
            "magnitude_NAME(a)", "order_NAME(a, b)", "chosen_NAME(a, b)", "__builtin_elementwise_add_sat(a, b)", "__builtin_elementwise_sub_sat(a, b)",
            "__builtin_elementwise_min(a, b)", "__builtin_elementwise_max(a, b)", "__builtin_elementwise_bitreverse(a)"]
UNSIGNED = ["__builtin_popcountg(a)", "__builtin_clzg(a, 77)", "__builtin_ctzg(a, -1)", "__builtin_parityll(a)", "__builtin_ffsll((long long)a)"]
SIGNED = ["__builtin_elementwise_abs(b == a ? a | 1 : b / 2)", "__builtin_clrsb(a)", "__builtin_ffs((int)a)"]
WHOLE = ["F(lround)(a)", "F(llround)(a)", "F(lrint)(a)", "F(llrint)(a)", "isnan(a)", "isinf(a)", "isfinite(a)", "isnormal(a)", "!!signbit(a)",
         "__builtin_issubnormal(a)", "__builtin_iszero(a)", "__builtin_issignaling(a)", "__builtin_isfpclass(a, 0x0f3)", "__builtin_isfpclass(a, 0x10c)",
         "fpclassify(a)", "isless(a, b)", "islessgreater(a, b)", "isunordered(a, b)"]
REALS = WHOLE + [
    "F(fmin)(a, b)", "F(fmax)(a, b)", "F(fmax)(a, 0)", "F(fmin)(1, a)", "F(floor)(a)", "F(ceil)(a)", "F(trunc)(a)", "F(rint)(a)", "F(nearbyint)(a)", "F(round)(a)",
    "F(__builtin_roundeven)(a)", "F(copysign)(a, b)", "F(fma)(a, b, a)", "F(fdim)(a, b)", "F(ldexp)(a, c)", "F(scalbn)(a, -(c | 1))", "F(scalbln)(a, 3L * c)",
    "F(ldexp)(a, INT_MIN + (c & 1))", "F(ldexp)(a, INT_MAX)", "F(__builtin_powi)(a, 3)", "F(__builtin_powi)(a, -7)", "F(__builtin_powi)(a, 0)", "F(fabs)(a)", "F(sqrt)(a)",
    "({ __typeof__(a) w; F(modf)(a, &w); })", "({ __typeof__(a) w; F(modf)(a, &w); w; })", "({ int e; F(frexp)(a, &e); })",
    "({ int e; F(frexp)(a, &e); e; })", "-a", "a < b ? a : b", "a > b ? b : a", "a == b ? a : -b"]
IDIOMS = {
    "i8": INTEGERS + SIGNED, "i16": INTEGERS + SIGNED, "i32": INTEGERS + SIGNED + ["plus(a, b)", "likely(a, b)", "assumed(a, b)"],
    "i64": [text for text in INTEGERS + SIGNED if text[:5] not in ("mul_N", "over_")],
    "u8": INTEGERS + UNSIGNED, "u16": INTEGERS + UNSIGNED + ["__builtin_bswap16(a)"],
    "u32": INTEGERS + UNSIGNED + ["__builtin_bswap32(a)", "__builtin_rotateleft32(a, c)", "__builtin_rotateright32(a, b)", "__builtin_bitreverse32(a)", "carried(a, b)",
                                  "lessened(a, b)", "swapped(a)", "__builtin_clz(a | 1)", "__builtin_ctz(a | 64)"],
    "u64": [text for text in INTEGERS + UNSIGNED if text[:5] not in ("mul_N", "over_")] + ["__builtin_bswap64(a)", "__builtin_rotateleft64(a, b)"],
    "f32": REALS, "f64": REALS,
}
ALONE = {  # what no register's lanes have a form for
    "i32": ["filled(a, b ^ c)", "a / ((b & 7) + 1)", "a % 7 + b / 9"],
    "i64": ["mul_NAME(a, b)", "over_NAME(a, b)", "mul_NAME(a, c)"],
    "u64": ["mul_NAME(a, b)", "over_NAME(a, b)", "punned(a, b)", "punned(b, a + (uint64_t)c)", "ends(a)"],
    "f32": ["F(__builtin_powi)(a, c)", "F(__builtin_powi)(a, INT_MIN)", "F(hypot)(a, b)", "F(fmod)(a, b)", "F(remainder)(a, b)", "F(cbrt)(a)", "F(tan)(a)",
            "F(atan2)(a, b)", "F(tanh)(a)", "F(expm1)(a)", "F(log1p)(a)", "F(erf)(a)", "F(erfc)(a)", "F(pow)(a, b)", "F(exp)(a)", "F(nextafter)(a, b)", "F(logb)(a)", "pair(a, b)"],
}
ALONE["f64"] = ALONE["f32"][:-1] + ["F(asinh)(a)", "F(exp2)(a)"]
TYPES = {"i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
         "f32": "float", "f64": "double"}


def expression(kind, text):
    """One of IDIOMS in C; the functions of floats end in f."""
    return re.sub(r"F\((\w+)\)", r"\1f" if kind == "f32" else r"\1", text.replace("NAME", kind))


KINDS = tuple(kind for kind in TYPES if kind[0] in "iu")


def some(pick, kinds, a, b, c, isReal):
    """One of them, of other expressions; which gives a real number, or an integer."""
    kind = pick.choice(kinds)
    texts = (ALONE if kind in ALONE and pick.random() < 0.15 else IDIOMS)[kind]
    if kind not in KINDS:
        texts = [text for text in texts if isReal != (text in WHOLE)] or WHOLE
    type = TYPES[kind]
    return f"({{ {type} a = ({type})({a}), b = ({type})({b}); int c = (int)({c}); (void)a, (void)b, (void)c; {expression(kind, pick.choice(texts))}; }})"
