// Generated data: the texts that name it, the values it has, and its errors.
#include "base/data/data_testing.h"
#include "base/data/generate.h"

#include <cmath>

namespace strata {
namespace {

class GenerateTest : public DataTest {
protected:
  template <typename T>
  std::vector<T> make(const std::string& text, const ElementType& type, int64_t count) {
    const auto spec = parseInputSpec(text, "A", diagnostics_, {});
    if (!spec)
      return {};
    auto array = makeInput(*spec, "A", type, {count}, diagnostics_, {});
    return array ? values<T>(*array) : std::vector<T>();
  }
};

TEST_F(GenerateTest, CountsAndZeros) {
  EXPECT_EQ(make<float>("iota", ElementType::floating(4), 4), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(make<int8_t>("iota", ElementType::signedInteger(1), 300)[257], 1);
  EXPECT_EQ(make<float>("iota", floatPair(), 2), (std::vector<float>{0, 0, 1, 1}));
  EXPECT_EQ(make<double>("zeros", ElementType::floating(8), 2), (std::vector<double>{0, 0}));
}

TEST_F(GenerateTest, Values) {
  EXPECT_EQ(make<float>("2.5", ElementType::floating(4), 2), (std::vector<float>{2.5f, 2.5f}));
  EXPECT_EQ(make<float>("-1", ElementType::complex(8), 1), (std::vector<float>{-1, -1}));
  EXPECT_EQ(make<int32_t>("1e3", ElementType::signedInteger(4), 1), (std::vector<int32_t>{1000}));
  EXPECT_EQ(make<uint64_t>("18446744073709551615", ElementType::unsignedInteger(8), 1),
            (std::vector<uint64_t>{UINT64_MAX}));
  EXPECT_EQ(make<int64_t>("-9223372036854775808", ElementType::signedInteger(8), 1), (std::vector<int64_t>{INT64_MIN}));
  EXPECT_EQ(make<uint8_t>("0x1f", ElementType::unsignedInteger(1), 1), (std::vector<uint8_t>{31}));
  EXPECT_EQ(make<uint8_t>("true", ElementType::boolean(), 1), (std::vector<uint8_t>{1}));
  EXPECT_TRUE(std::isnan(make<float>("nan", ElementType::floating(4), 1).at(0)));
  EXPECT_EQ(make<float>("-inf", ElementType::floating(4), 1).at(0), -INFINITY);
}

TEST_F(GenerateTest, ValuesThatDoNotFitAreErrors) {
  const std::pair<const char*, ElementType> cases[] = {
      {"2.5", ElementType::signedInteger(4)},  {"128", ElementType::signedInteger(1)},
      {"-129", ElementType::signedInteger(1)}, {"-1", ElementType::unsignedInteger(4)},
      {"1e300", ElementType::floating(4)},     {"2", ElementType::boolean()},
      {"1e30", ElementType::signedInteger(8)}, {"nan", ElementType::signedInteger(4)}};
  for (const auto& [text, type] : cases) {
    EXPECT_TRUE(make<uint8_t>(text, type, 1).empty()) << text;
    EXPECT_EQ(code(), "data-value") << text;
  }
}

// The first outputs of splitmix64 from seed 1234567, as its author's program prints them.
TEST_F(GenerateTest, RandomNumbersAreThoseOfSplitmix64) {
  const uint64_t published[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u};
  const auto doubles = make<double>("random:1234567", ElementType::floating(8), 3);
  const auto floats = make<float>("random:1234567", ElementType::floating(4), 3);
  const auto integers = make<int32_t>("random:1234567", ElementType::signedInteger(4), 3);
  ASSERT_EQ(doubles.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(doubles[i], std::ldexp(static_cast<double>(published[i] >> 11), -53));
    EXPECT_EQ(floats[i], std::ldexp(static_cast<float>(published[i] >> 40), -24));
    EXPECT_EQ(integers[i], static_cast<int32_t>(static_cast<unsigned __int128>(published[i]) * 100 >> 64));
  }
}

TEST_F(GenerateTest, RandomNumbersKeepToTheirRange) {
  double sum = 0;
  for (float x : make<float>("random", ElementType::floating(4), 10000)) {
    EXPECT_TRUE(x >= 0 && x < 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
  std::set<int32_t> seen;
  for (int32_t x : make<int32_t>("random:7:-3:5", ElementType::signedInteger(4), 1000))
    seen.insert(x);
  EXPECT_EQ(seen, (std::set<int32_t>{-3, -2, -1, 0, 1, 2, 3, 4}));
  for (float x : make<float>("random:7:-2:2.5", ElementType::floating(4), 1000))
    EXPECT_TRUE(x >= -2 && x < 2.5f);
  for (int64_t x :
       make<int64_t>("random:1:-9223372036854775808:9223372036854775807", ElementType::signedInteger(8), 100))
    EXPECT_LT(x, INT64_MAX);
}

TEST_F(GenerateTest, SeedsAndNamesTellArraysApart) {
  const auto type = ElementType::unsignedInteger(4);
  EXPECT_EQ(make<uint32_t>("random:1:0:1000000", type, 50), make<uint32_t>("random:1:0:1000000", type, 50));
  EXPECT_NE(make<uint32_t>("random:1:0:1000000", type, 50), make<uint32_t>("random:2:0:1000000", type, 50));
  EXPECT_NE(parseInputSpec("random", "A", diagnostics_, {})->seed,
            parseInputSpec("random", "B", diagnostics_, {})->seed);
  // A longer array begins as a shorter one does: a value depends on its index alone.
  const auto all = make<uint32_t>("random:1", type, 100), some = make<uint32_t>("random:1", type, 10);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
}

TEST_F(GenerateTest, MalformedGeneratorsAreErrors) {
  for (const char* text : {"", "random:", "random:x", "random:-1", "random:1.5", "random:1:2", "random:1:2:3:4"}) {
    EXPECT_FALSE(parseInputSpec(text, "A", diagnostics_, {})) << text;
    EXPECT_EQ(code(), "data-generator") << text;
  }
  for (const char* text : {"random:1:5:5", "random:1:5:4"}) {
    EXPECT_TRUE(make<int32_t>(text, ElementType::signedInteger(4), 1).empty());
    EXPECT_EQ(code(), "data-range") << text;
  }
  make<float>("random:1:0:inf", ElementType::floating(4), 1);
  EXPECT_EQ(code(), "data-range");
  make<float>("random:1:a:b", ElementType::floating(4), 1);
  EXPECT_EQ(code(), "several");
}

TEST_F(GenerateTest, PathsAreReadAndChecked) {
  const std::string file =
      write("a.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", raw<float>({1, 2})));
  EXPECT_EQ(make<float>(file, ElementType::floating(4), 2), (std::vector<float>{1, 2}));
  EXPECT_EQ(make<float>(file, ElementType::floating(4), -1), (std::vector<float>{1, 2}));
  make<float>(file, ElementType::floating(4), 3);
  EXPECT_EQ(code(), "data-shape");
  make<float>(file, ElementType::floating(8), 2);
  EXPECT_EQ(code(), "data-element-type");
  make<float>("iota", ElementType::floating(4), -1);
  EXPECT_EQ(code(), "data-extent");
}

} // namespace
} // namespace strata
