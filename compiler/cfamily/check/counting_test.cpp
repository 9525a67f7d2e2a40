// Counting loops against C: every loop over a type of 8 bits, carried out in that type.
#include "compiler/cfamily/check/counting.h"

#include <gtest/gtest.h>

#include <vector>

namespace strata::cfamily {
namespace {

constexpr int endless = 600;

/// How often C runs the body, or `endless`; `last`: the variable behind it.
template <typename T>
int timesInC(int start, int bound, int step, bool inclusive, T& last) {
  int times = 0;
  T i = static_cast<T>(start);
  for (; times < endless; i = static_cast<T>(i + step), ++times)
    if (!(step > 0 ? inclusive ? i <= bound : i < bound : inclusive ? i >= bound : i > bound))
      break;
  last = i;
  return times;
}

/// How often a counted loop runs it.
int timesCounted(int start, int bound, int step, bool inclusive) {
  int times = 0;
  for (int i = start; step > 0 ? inclusive ? i <= bound : i < bound : inclusive ? i >= bound : i > bound; i += step)
    ++times;
  return times;
}

template <typename T>
void everyLoop(Scalar type) {
  const Range values = Range::of(type);
  for (int step : {1, -1, 2, -2, 3, -7, 100, -100, 300})
    for (bool inclusive : {false, true})
      for (int start = static_cast<int>(values.least); start <= values.most; start += 5)
        for (int bound = -300; bound <= 300; bound += 3) {
          T last = 0;
          const int wanted = timesInC<T>(start, bound, step, inclusive, last);
          for (const Range& known :
               {Range::only(bound), Range{-300, 300}, Range{bound, INT64_MAX}, Range{-9, 9}.united({bound, bound})})
            for (const Range& from : {Range::only(start), values}) {
              const Counting loop{type, step, inclusive, from, known, false};
              const CountingPlan plan = planCounting(loop);
              if (!plan.isCounted)
                continue;
              // What is refused never ends.
              if (plan.limit && (step > 0 ? bound > *plan.limit : bound < *plan.limit)) {
                ASSERT_EQ(wanted, endless) << start << " " << bound << " " << step;
                continue;
              }
              ASSERT_EQ(timesCounted(start, bound, step, inclusive), wanted)
                  << start << " " << bound << " " << step << " " << inclusive;
              const Range inside = valuesIn(loop, plan);
              if (wanted > 0) {
                ASSERT_TRUE(inside.has(start) && inside.has(start + (wanted - 1) * step));
              }
            }
        }
}

TEST(Counting, IsWhatCMakesOfALoop) {
  everyLoop<signed char>(Scalar::SignedChar);
  everyLoop<unsigned char>(Scalar::UnsignedChar);
}

TEST(Counting, ConstantsDecideAtOnce) {
  auto plan = [](Scalar type, int64_t start, int64_t bound, int64_t step, bool inclusive = false) {
    return planCounting({type, step, inclusive, Range::only(start), Range::only(bound), false});
  };
  EXPECT_TRUE(plan(Scalar::UnsignedChar, 0, 250, 7).isCounted);  // ends at 252
  EXPECT_FALSE(plan(Scalar::UnsignedChar, 0, 255, 7).isCounted); // steps over 255
  EXPECT_TRUE(plan(Scalar::UnsignedInt, 9, 1, -4).isCounted);
  EXPECT_FALSE(plan(Scalar::UnsignedInt, 7, 1, -5).isCounted); // steps below 0
  EXPECT_TRUE(plan(Scalar::Long, 5, INT64_MAX, 1, true).limit.has_value());
  EXPECT_FALSE(plan(Scalar::Long, 5, INT64_MAX, 1).limit.has_value());
  EXPECT_TRUE(plan(Scalar::Long, 5, INT64_MIN, -1).checksSpan);
  EXPECT_TRUE(plan(Scalar::UnsignedShort, 15, -1, -1).limit == 0);
}

TEST(Counting, ATestFacesTheWayOfTheSteps) {
  EXPECT_EQ(includesBound(Operator::Less, 2), false);
  EXPECT_EQ(includesBound(Operator::LessEqual, 1), true);
  EXPECT_EQ(includesBound(Operator::Greater, -1), false);
  EXPECT_EQ(includesBound(Operator::GreaterEqual, -3), true);
  for (Operator away : {Operator::Greater, Operator::GreaterEqual, Operator::NotEqual})
    EXPECT_FALSE(includesBound(away, 1));
  EXPECT_FALSE(includesBound(Operator::Less, -1));
}

TEST(Counting, NumbersBeyond63BitsAreNotCounted) {
  EXPECT_FALSE(planCounting({Scalar::UnsignedLong, 1, false, {}, {0, 10}, false}).isCounted);
  EXPECT_FALSE(planCounting({Scalar::UnsignedLong, -1, false, {0, 10}, {}, true}).isCounted);
  EXPECT_FALSE(planCounting({Scalar::UnsignedLong, 1, false, Range::only(INT64_MAX - 3), {}, true}).isCounted);
  const CountingPlan up = planCounting({Scalar::UnsignedLong, 1, false, {0, 10}, {}, true});
  EXPECT_TRUE(up.isCounted && up.checksSign);
}

} // namespace
} // namespace strata::cfamily
