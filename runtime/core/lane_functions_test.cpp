// Functions of lanes against the C library, bit for bit.
#include "runtime/core/lane_functions.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace {

template <typename T>
bool areAlike(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (a != a && b != b);
}

/// Some of all floats, sixteen at a time as lanes have them; all of them where STRATA_ALL_FLOATS is set, which takes
/// minutes.
void compare(const char* name, void (*lanes)(float*, int64_t), float (*library)(float)) {
  const uint64_t step = std::getenv("STRATA_ALL_FLOATS") ? 1 : 9973;
  unsigned different = 0;
  std::array<float, 16> x, made;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step * x.size()) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(bits + i * step));
    made = x;
    lanes(made.data(), static_cast<int64_t>(made.size()));
    for (size_t i = 0; i < x.size(); ++i)
      if (!areAlike(made[i], library(x[i])) && different++ < 3)
        ADD_FAILURE() << name << " of " << x[i] << ": " << made[i] << ", not " << library(x[i]);
  }
  EXPECT_EQ(different, 0u) << name;
}

TEST(LaneFunctions, FloatsAreTheLibrarys) {
  compare("exp", strata_lanes_exp_f32, [](float x) { return std::exp(x); });
  compare("log", strata_lanes_log_f32, [](float x) { return std::log(x); });
  compare("sin", strata_lanes_sin_f32, [](float x) { return std::sin(x); });
  compare("cos", strata_lanes_cos_f32, [](float x) { return std::cos(x); });
}

TEST(LaneFunctions, AnyCountIsPossible) {
  for (int64_t count = 0; count <= 19; ++count) {
    std::array<float, 20> values;
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i) * 20 - 100; // some of sin's are large
    const auto before = values;
    strata_lanes_sin_f32(values.data(), count);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_TRUE(areAlike(values[i], static_cast<int64_t>(i) < count ? std::sin(before[i]) : before[i]))
          << count << ", " << i;
  }
}

TEST(LaneFunctions, EveryOneIsThere) {
#define CHECK_LANES(NAME)                                                                                              \
  {                                                                                                                    \
    std::array<float, 3> floats = {0.25f, 0.5f, 1.0f};                                                                 \
    std::array<double, 3> doubles = {0.25, 0.5, 1.0};                                                                  \
    strata_lanes_##NAME##_f32(floats.data(), 3);                                                                       \
    strata_lanes_##NAME##_f64(doubles.data(), 3);                                                                      \
    size_t at = 0;                                                                                                     \
    for (const float x : {0.25f, 0.5f, 1.0f}) {                                                                        \
      EXPECT_TRUE(areAlike(floats[at], std::NAME(x))) << #NAME;                                                        \
      EXPECT_TRUE(areAlike(doubles[at++], std::NAME(static_cast<double>(x)))) << #NAME;                                \
    }                                                                                                                  \
  }
  STRATA_LANE_FUNCTIONS(CHECK_LANES)
}

} // namespace
