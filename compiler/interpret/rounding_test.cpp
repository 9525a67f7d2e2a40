// Tests of how far numbers may be off in another order of a reduction. The orders are made here: sums, products and
// choices of the same terms in random trees, against the distances that the interpreter gives.
#include "compiler/interpret/rounding.h"
#include "compiler/interpret/subject.h"

#include <cmath>
#include <functional>
#include <random>

namespace strata::interpret {
namespace {

/// @f reduces the elements of A into the first element of T and then does `behind` with it, which may write the others.
/// `update` makes %u of %t, the copy's element, and %x, the term; `combine` makes %c of %a and %b.
std::string reduction(const std::string& type, const std::string& update, const std::string& combine,
                      const std::string& behind = "") {
  const std::string block = "memref<?x" + type + ", strided<[1], offset: ?>>",
                    cell = "memref<" + type + ", strided<[], offset: ?>>";
  return "svm.kernel @c(%p: " + cell + " {svm.access = \"read\"}, %q: " + cell + " {svm.access = \"readwrite\"}) {\n" +
         "%a = memref.load %p[] : " + cell + "\n%b = memref.load %q[] : " + cell + "\n" + combine +
         "\nmemref.store %c, %q[] : " + cell + "\nsvm.return\n}\n" + "func.func @f(%A: " + block +
         " {svm.access = \"read\"}, %T: " + block + " {svm.access = \"readwrite\"}) {\n" +
         "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%n = memref.dim %A, %c0 : " + block +
         "\n%T0 = memref.subview %T[0] [1] [1] : " + block + " to " + cell +
         "\nsvm.parallel (%i) = (%c0) to (%n) reduce(%P = %T0 : " + cell + " with #svm.combiner<@c, \"c\">) {\n" +
         "%x = memref.load %A[%i] : " + block + "\n%t = memref.load %P[] : " + cell + "\n" + update +
         "\nmemref.store %u, %P[] : " + cell + "\n}\n%r = memref.load %T0[] : " + cell + "\n" + behind +
         "\nreturn\n}\n";
}

template <typename T>
struct Reduced {
  std::vector<T> values;
  std::vector<double> distances; ///< of values
  bool decided = false;
};

template <typename T>
Reduced<T> reduce(const std::string& program, std::vector<T> terms, T first, size_t count = 1) {
  Options options;
  options.trackUndefined = true;
  Subject subject(program, options);
  Reduced<T> result;
  result.values.assign(count, 0);
  result.values[0] = first;
  EXPECT_TRUE(subject.call({Argument::block(terms.data(), {static_cast<int64_t>(terms.size())}),
                            Argument::block(result.values.data(), {static_cast<int64_t>(count)})}))
      << subject.text();
  std::vector<double> all = subject.interpreter->distances(1);
  for (size_t i = 0; i < count; ++i)
    result.distances.push_back(all.empty() ? -1 : all[i * sizeof(T) / 4]);
  result.decided = subject.interpreter->decidedAt().has_value();
  return result;
}

/// The terms combined along a random tree.
template <typename T>
T inSomeOrder(std::vector<T> terms, const std::function<T(T, T)>& combine, std::mt19937& random) {
  while (terms.size() > 1) {
    std::swap(terms[random() % terms.size()], terms.back());
    T last = terms.back();
    terms.pop_back();
    T& other = terms[random() % terms.size()];
    other = combine(other, last);
  }
  return terms[0];
}

const char* const addition = "%u = arith.addf %t, %x : f32";
const char* const sum = "%c = arith.addf %a, %b : f32";

TEST(Rounding, SumsInAnyOrderAreWithinTheDistance) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 1);
  double worst = 0;
  for (int size : {2, 3, 10, 100, 1000}) {
    std::vector<float> terms(static_cast<size_t>(size));
    for (float& each : terms)
      each = normal(random) * std::exp(3 * normal(random));
    Reduced<float> run = reduce<float>(reduction("f32", addition, sum), terms, 0.5f);
    EXPECT_FALSE(run.decided);
    ASSERT_GT(run.distances[0], 0);
    double magnitude = 0.5;
    for (float each : terms)
      magnitude += std::fabs(each);
    // Not more than twice what each of two orders may be off, for all roundings and those of the combinations.
    EXPECT_LE(run.distances[0], 2 * 2.01 * size * 0x1p-24 * magnitude);
    terms.push_back(0.5f);
    for (int trial = 0; trial < 200; ++trial) {
      float other = inSomeOrder<float>(terms, [](float a, float b) { return a + b; }, random);
      EXPECT_LE(std::fabs(static_cast<double>(other) - run.values[0]), run.distances[0]);
      worst = std::max(worst, std::fabs(static_cast<double>(other) - run.values[0]) / run.distances[0]);
    }
  }
  EXPECT_GT(worst, 0.001); // the distance is one of roundings
}

TEST(Rounding, FusedAndDoubleSums) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> terms(300);
  for (double& each : terms)
    each = uniform(random);
  Reduced<double> run =
      reduce<double>(reduction("f64", "%u = math.fma %x, %x, %t : f64", "%c = arith.addf %a, %b : f64"), terms, 0);
  ASSERT_GT(run.distances[0], 0);
  EXPECT_LT(run.distances[0], 1e-10);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> squares;
    for (double each : terms)
      squares.push_back(each * each);
    double other = inSomeOrder<double>(squares, [](double a, double b) { return a + b; }, random);
    EXPECT_LE(std::fabs(other - run.values[0]), run.distances[0]);
  }
}

TEST(Rounding, ProductsInAnyOrder) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(0.9f, 1.1f);
  std::vector<float> terms(200);
  for (float& each : terms)
    each = uniform(random);
  Reduced<float> run =
      reduce<float>(reduction("f32", "%u = arith.mulf %t, %x : f32", "%c = arith.mulf %a, %b : f32"), terms, 1.0f);
  ASSERT_GT(run.distances[0], 0);
  for (int trial = 0; trial < 200; ++trial)
    EXPECT_LE(std::fabs(static_cast<double>(inSomeOrder<float>(
                            terms, [](float a, float b) { return a * b; }, random)) -
                        run.values[0]),
              run.distances[0]);
}

TEST(Rounding, ChoicesAreTheSameInEveryOrder) {
  const std::string greatest = "%d = arith.cmpf olt, %b, %a : f32\n%c = arith.select %d, %a, %b : f32";
  Reduced<float> run =
      reduce<float>(reduction("f32", "%d = arith.cmpf olt, %t, %x : f32\n%u = arith.select %d, %x, %t : f32", greatest),
                    {3, 1, 4, 1, 5}, -1.0f);
  EXPECT_EQ(run.values[0], 5);
  EXPECT_LT(run.distances[0], 0);
  EXPECT_FALSE(run.decided);
  // Which zero it is may depend on the order, and is no difference.
  run = reduce<float>(reduction("f32", "%u = arith.maximumf %t, %x : f32", "%c = arith.maximumf %a, %b : f32"),
                      {-1, 0, -2}, -1.0f);
  EXPECT_EQ(run.distances[0], 0);
}

TEST(Rounding, WhatOneTermReachesIsTheSumOfTwo) {
  Reduced<float> run = reduce<float>(reduction("f32", addition, sum), {0x1p-20f}, 1.0f);
  EXPECT_GT(run.distances[0], 0);
  EXPECT_LE(run.distances[0], 5 * 0x1p-24);
  run = reduce<float>(reduction("f32", addition, sum), {}, 1.0f);
  EXPECT_LT(run.distances[0], 0) << "nothing was reduced";
}

TEST(Rounding, WhatIsComputedFromASumIsAsFarOff) {
  std::mt19937 random(4);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> terms(500);
  for (float& each : terms)
    each = uniform(random);
  auto behind = [](const char* text) {
    return std::string("%k = arith.constant 3.0 : f32\n") + text +
           "\n%l = memref.subview %T[1] [1] [1] : memref<?xf32, strided<[1], offset: ?>> to memref<f32, strided<[], "
           "offset: ?>>\nmemref.store %y, %l[] : memref<f32, strided<[], offset: ?>>";
  };
  using F = float (*)(float);
  const std::pair<const char*, F> cases[] = {
      {"%y = arith.mulf %r, %k : f32", [](float r) { return r * 3; }},
      {"%y = arith.divf %r, %k : f32", [](float r) { return r / 3; }},
      {"%y = arith.divf %k, %r : f32", [](float r) { return 3 / r; }},
      {"%y = arith.subf %k, %r : f32", [](float r) { return 3 - r; }},
      {"%y = math.sqrt %r : f32", [](float r) { return std::sqrt(r); }},
      {"%y = math.log %r : f32", [](float r) { return std::log(r); }},
      {"%y = math.sin %r : f32", [](float r) { return std::sin(r); }},
      {"%y = math.floor %r : f32", [](float r) { return std::floor(r); }},
      {"%z = arith.mulf %r, %r : f32\n%y = arith.negf %z : f32", [](float r) { return -(r * r); }},
      {"%w = arith.constant 0.01 : f32\n%z = arith.mulf %r, %w : f32\n%y = math.exp %z : f32",
       [](float r) { return std::exp(r * 0.01f); }},
      {"%z = arith.cmpf olt, %r, %k : f32\n%y = arith.select %z, %r, %k : f32",
       [](float r) { return std::min(r, 3.f); }},
  };
  for (auto [text, function] : cases) {
    Reduced<float> run = reduce<float>(reduction("f32", addition, sum, behind(text)), terms, 0, 2);
    EXPECT_FALSE(run.decided) << text;
    if (std::string(text).find("select") != std::string::npos) {
      EXPECT_EQ(run.values[1], 3.0f);
      EXPECT_LT(run.distances[1], 0) << "the constant";
      continue;
    }
    ASSERT_GT(run.distances[1], 0) << text;
    EXPECT_LT(run.distances[1], 100) << text;
    for (int trial = 0; trial < 200; ++trial) {
      float other = function(inSomeOrder<float>(terms, [](float a, float b) { return a + b; }, random));
      EXPECT_LE(std::fabs(static_cast<double>(other) - run.values[1]), run.distances[1]) << text;
    }
  }
  // An untouched number is exact beside one that is not.
  Reduced<float> run =
      reduce<float>(reduction("f32", addition, sum, behind("%y = arith.mulf %k, %k : f32")), terms, 0, 2);
  EXPECT_LT(run.distances[1], 0);
  EXPECT_GT(run.distances[0], 0);
}

TEST(Rounding, BranchesBetweenNumbersThatAreTooCloseDecide) {
  auto behind = [](double limit) {
    return "%k = arith.constant " + std::to_string(limit) +
           " : f32\n%z = arith.cmpf olt, %r, %k : f32\nscf.if %z {\nmemref.store %k, %T0[] : memref<f32, strided<[], "
           "offset: ?>>\n}";
  };
  const std::vector<float> terms(100, 0.1f);
  EXPECT_FALSE(reduce<float>(reduction("f32", addition, sum, behind(3.0)), terms, 0).decided);
  EXPECT_TRUE(reduce<float>(reduction("f32", addition, sum, behind(10.0)), terms, 0).decided);
  // Terms that overflow in some orders.
  const std::vector<float> large{3e38f, 3e38f, -3e38f, -3e38f};
  EXPECT_TRUE(reduce<float>(reduction("f32", addition, sum), large, 0).decided);
  EXPECT_FALSE(reduce<float>(reduction("f32", addition, sum), {INFINITY, 1, 2}, 0).decided) << "in every order";
  const std::string times = reduction("f32", "%u = arith.mulf %t, %x : f32", "%c = arith.mulf %a, %b : f32");
  EXPECT_TRUE(reduce<float>(times, {1e20f, 1e20f, 1e-20f, 1e-20f}, 1).decided);
  EXPECT_TRUE(reduce<float>(times, {1e-20f, 1e20f, 1e-20f, 1e20f}, 1).decided);
  EXPECT_FALSE(reduce<float>(times, {1e10f, 1e-10f, 1e10f}, 1).decided);
  EXPECT_FALSE(reduce<float>(times, {0, 1e10f}, 1).decided);
  // An integer of a number has no neighbourhood.
  const std::string whole = "%z = arith.fptosi %r : f32 to i32\n%y = arith.sitofp %z : i32 to f32\nmemref.store %y, "
                            "%T0[] : memref<f32, strided<[], offset: ?>>";
  EXPECT_TRUE(reduce<float>(reduction("f32", addition, sum, whole), terms, 0).decided);
}

TEST(Rounding, ACombinerThatIsNoneOfTheKnownOnesGivesNoDistance) {
  // sqrt(a^2 + b^2)
  auto norm = [](const char* a, const char* b, const char* to) {
    return std::string("%s1 = arith.mulf ") + a + ", " + a + " : f32\n%s2 = math.fma " + b + ", " + b +
           ", %s1 : f32\n" + to + " = math.sqrt %s2 : f32";
  };
  Reduced<float> run = reduce<float>(reduction("f32", norm("%t", "%x", "%u"), norm("%a", "%b", "%c")), {3, 4}, 0);
  EXPECT_EQ(run.values[0], 5);
  EXPECT_TRUE(std::isinf(run.distances[0]));
}

TEST(Rounding, BoundsOfSingleOperations) {
  const Approximate exact{4, {}}, off{4, {4, 0x1p-20, 0}};
  EXPECT_EQ(off.bound(), 4 * 0x1p-20 / (1 - 0x1p-20));
  EXPECT_EQ(exact.bound(), 0);
  EXPECT_EQ(combine(RoundingRule::Add, off, exact, {}, 32).magnitude, 8);
  EXPECT_GE(combine(RoundingRule::Multiply, off, off, {}, 32).bound(), 2 * 4 * off.bound());
  EXPECT_TRUE(std::isinf(combine(RoundingRule::Divide, exact, {1e-9, {4, 0x1p-20, 0}}, {}, 32).bound()));
  EXPECT_TRUE(std::isinf(combine(RoundingRule::Logarithm, {1e-9, {4, 0x1p-20, 0}}, {}, {}, 32).bound()));
  EXPECT_TRUE(std::isinf(combine(RoundingRule::Unknown, off, {}, {}, 32).bound()));
  EXPECT_TRUE(std::isinf(Slack::unknown().bound()));
  EXPECT_GE(combine(RoundingRule::Narrow, off, {}, {}, 32).bound(), off.bound());
}

} // namespace
} // namespace strata::interpret
