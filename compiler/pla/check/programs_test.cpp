// Loop programs through the front half: read, made uniform, verified, and interpreted; results compared with plain C++.
#include "compiler/equations/interpret.h"
#include "compiler/equations/print.h"
#include "compiler/equations/reduce.h"
#include "compiler/equations/uniform.h"
#include "compiler/equations/verify.h"
#include "compiler/pla/check/check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace strata::pla {

namespace {

using equations::Graph;
using equations::Value;

/// A program as verified equations, and those brought into uniform form; the messages where it is wrong.
struct Read {
  explicit Read(const std::string& text) : engine(sources) {
    const BufferId file = sources.add("test.pla", text, SourceKind::Program);
    system = readSystem(file, "test", engine);
    if (system)
      system = equations::withoutReductions(*system, engine);
    if (system && !equations::verify(*system, engine))
      system.reset();
    if (system)
      graph = equations::uniform(*system, engine);
    if (graph && !equations::verify(*graph, engine))
      graph.reset();
    messages = engine.render({});
  }

  bool says(const std::string& code) const { return messages.find("[" + code + "]") != std::string::npos; }

  SourceManager sources;
  DiagnosticEngine engine;
  std::optional<equations::System> system;
  std::optional<Graph> graph;
  std::string messages;
};

/// Runs a program whose inputs are given by a function, and returns the elements of its first output in row-major
/// order.
std::vector<double> run(const Graph& graph, const std::vector<int64_t>& sizes, const std::vector<int64_t>& extents,
                        const std::function<double(uint32_t, const std::vector<int64_t>&)>& input) {
  int64_t count = 1;
  for (const int64_t extent : extents)
    count *= extent;
  std::vector<double> result(static_cast<size_t>(count), NAN);
  const auto failure = equations::interpret(
      graph, sizes,
      [&](uint32_t number, const std::vector<int64_t>& index) {
        const double value = input(number, index);
        return Value{static_cast<int64_t>(value), value};
      },
      [&](uint32_t number, const std::vector<int64_t>& index, const Value& value) {
        if (number != 0)
          return;
        int64_t at = 0;
        for (size_t i = 0; i < index.size(); ++i)
          at = at * extents[i] + index[i];
        result[static_cast<size_t>(at)] =
            graph.outputs[0].type.kind == ElementType::Kind::Float ? value.real : static_cast<double>(value.integer);
      });
  EXPECT_FALSE(failure) << (failure ? failure->message : "");
  return result;
}

TEST(Programs, BitsOfANumber) {
  const Read read(R"(
    program bits;
    parameter N >= 1;
    input in: int32;
    output bits: int32[N];
    variable x, y: int32;
    for i where 0 <= i < N {
      x[i] = in if i == 0;
      x[i] = y[i - 1] if i > 0;
      y[i] = x[i] >> 1;
      bits[i] = x[i] & 1;
    })");
  ASSERT_TRUE(read.graph) << read.messages;
  EXPECT_EQ(read.graph->nodes.size(), 4u) << equations::print(*read.graph);
  const std::vector<double> bits = run(*read.graph, {10}, {10}, [](uint32_t, const auto&) { return 0x2A5; });
  for (size_t i = 0; i < 10; ++i)
    EXPECT_EQ(bits[i], (0x2A5 >> i) & 1);
}

TEST(Programs, MatrixProductInThreeLines) {
  const Read read(R"(
    parameter M, N, K >= 1;
    input a: float[M, K], b: float[K, N];
    output c: float[M, N];
    for i, j, k where 0 <= i < M and 0 <= j < N and 0 <= k < K {
      c[i, j] = sum[k](a[i, k] * b[k, j]);
    })");
  ASSERT_TRUE(read.graph) << read.messages;
  const auto a = [](int64_t i, int64_t k) { return static_cast<float>(i * 3 + k) * 0.25f; };
  const auto b = [](int64_t k, int64_t j) { return static_cast<float>(k - j) * 0.5f; };
  const std::vector<double> c = run(*read.graph, {3, 4, 5}, {3, 4}, [&](uint32_t input, const auto& at) {
    return static_cast<double>(input == 0 ? a(at[0], at[1]) : b(at[0], at[1]));
  });
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 4; ++j) {
      float sum = a(i, 0) * b(0, j);
      for (int64_t k = 1; k < 5; ++k)
        sum += a(i, k) * b(k, j);
      EXPECT_EQ(c[static_cast<size_t>(i * 4 + j)], static_cast<double>(sum));
    }
}

TEST(Programs, TriangularSolveUsesResultsFarAway) {
  const Read read(R"(
    parameter N >= 1;
    input L: double[N, N], b: double[N];
    output x: double[N];
    variable s: double, v: double;
    for i, j where 0 <= i < N and 0 <= j <= i {
      s[i, j] = b[i] if j == 0;
      s[i, j] = s[i, j - 1] - L[i, j - 1] * v[j - 1] if j > 0;
      v[i] = s[i, i] / L[i, i] if j == i;
      x[i] = v[i] if j == i;
    })");
  ASSERT_TRUE(read.graph) << read.messages;
  const auto l = [](int64_t i, int64_t j) {
    return i == j ? 2.0 + static_cast<double>(i) : 1.0 / static_cast<double>(1 + i + j);
  };
  const auto b = [](int64_t i) { return static_cast<double>(i * i) - 3; };
  const std::vector<double> x = run(
      *read.graph, {6}, {6}, [&](uint32_t input, const auto& at) { return input == 0 ? l(at[0], at[1]) : b(at[0]); });
  std::vector<double> expected;
  for (int64_t i = 0; i < 6; ++i) {
    double sum = b(i);
    for (int64_t j = 0; j < i; ++j)
      sum = sum - l(i, j) * expected[static_cast<size_t>(j)];
    expected.push_back(sum / l(i, i));
    EXPECT_EQ(x[static_cast<size_t>(i)], expected.back());
  }
}

TEST(Programs, GuardsWithRemaindersAndAlternatives) {
  const Read read(R"(
    parameter N >= 1;
    input x: int16[N];
    output y: int16[N];
    for i where 0 <= i < N {
      y[i] = x[i] * 3 if i mod 3 == 1 or i == 0;
      y[i] = -x[i] if i mod 3 != 1 and i != 0;
    })");
  ASSERT_TRUE(read.graph) << read.messages;
  const std::vector<double> y =
      run(*read.graph, {20}, {20}, [](uint32_t, const auto& at) { return static_cast<double>(at[0] * 2000); });
  for (int64_t i = 0; i < 20; ++i)
    EXPECT_EQ(y[static_cast<size_t>(i)],
              static_cast<int16_t>((i % 3 == 1 || i == 0) ? 3 * static_cast<int16_t>(i * 2000)
                                                          : -static_cast<int16_t>(i * 2000)));
}

TEST(Programs, AScalarComputedOnceReachesEveryIteration) {
  const Read read(R"(
    parameter N >= 2, M >= 1;
    input x: double[N];
    output y: double[N, M];
    variable mean: double;
    for i, j where 0 <= i < N and 0 <= j < M {
      mean[] = x[0] * 0.5 if i == 0 and j == 0;
      y[i, j] = x[i] - mean[];
    })");
  EXPECT_TRUE(read.says("pla-syntax")); // a variable without indices is written without brackets
  const Read right(R"(
    parameter N >= 2, M >= 1;
    input x: double[N];
    output y: double[N, M];
    variable mean: double;
    for i, j where 0 <= i < N and 0 <= j < M {
      mean = x[0] * 0.5 if i == 0 and j == 0;
      y[i, j] = x[i] - mean;
    })");
  ASSERT_TRUE(right.graph) << right.messages;
  const std::vector<double> y =
      run(*right.graph, {3, 4}, {3, 4}, [](uint32_t, const auto& at) { return static_cast<double>(at[0]) + 1; });
  for (size_t i = 0; i < 12; ++i)
    EXPECT_EQ(y[i], static_cast<double>(i / 4) + 0.5);
}

struct Wrong {
  const char* code;
  const char* text;
};

class WrongPrograms : public testing::TestWithParam<Wrong> {};

TEST_P(WrongPrograms, AreRefused) {
  const std::string before =
      "parameter N >= 1;\ninput x: float[N], n: int;\noutput y: float[N];\nvariable v, w: float;\n";
  const std::string text = GetParam().text[0] == '!' ? GetParam().text + 1 : before + GetParam().text;
  const Read read(text);
  EXPECT_FALSE(read.graph);
  EXPECT_TRUE(read.says(GetParam().code)) << read.messages;
}

INSTANTIATE_TEST_SUITE_P(
    Codes, WrongPrograms,
    testing::Values(
        Wrong{"pla-character", "!parameter N; § "}, Wrong{"pla-open-comment", "!parameter N; /* "},
        Wrong{"pla-number", "!parameter N >= 0x;"}, Wrong{"pla-syntax", "for i 0 <= i < N { }"},
        Wrong{"pla-reserved-name", "variable mod1, sum: float;"}, Wrong{"pla-declared-twice", "variable N: int;"},
        Wrong{"pla-unknown-type", "input z: flot[N];"},
        Wrong{"pla-unknown-name", "for i where 0 <= i < N { y[i] = z[i]; }"},
        Wrong{"pla-variable-extents", "variable z: float[N];\nfor i where 0 <= i < N { y[i] = x[i]; }"},
        Wrong{"pla-index-count", "for i where 0 <= i < N { y[i] = x[i, i]; }"},
        Wrong{"pla-defines-input", "for i where 0 <= i < N { x[i] = 1.0; }"},
        Wrong{"pla-never-defined", "for i where 0 <= i < N { y[i] = v[i]; }"},
        Wrong{"pla-loops", "for i where 0 <= i < N { } for j where 0 <= j < N { }"},
        Wrong{"pla-too-many", "for a, b, c, d, e, f, g, h, k where 0 <= a < N { y[a] = x[a]; }"},
        Wrong{"pla-assumption", "assume N > 3 or N == 1;\nfor i where 0 <= i < N { y[i] = x[i]; }"},
        Wrong{"pla-scalar-output", "output z: float;"},
        Wrong{"pla-not-affine", "for i where 0 <= i < N { y[i] = x[i * i]; }"},
        Wrong{"pla-not-a-condition", "for i where 0 <= i < N { y[i] = x[i] if i; }"},
        Wrong{"pla-condition-size", "for i where 0 <= i < N { y[i] = x[i] if (i != 2 * N and i != 3 * N and i != 4 * N "
                                    "and i != 5 * N and i != 6 * N and i != 7 * N and i != 8 * N and "
                                    "i != 9 * N and i != 10 * N and i != 11 * N); }"},
        Wrong{"pla-unknown-size", "for i where 0 <= i < M { y[i] = x[i]; }"},
        Wrong{"pla-modulus", "for i where 0 <= i < N { y[i] = x[i] if i mod N == 0; }"},
        Wrong{"pla-too-large", "for i where 0 <= i < N { y[i] = x[i + 9999999999999]; }"},
        Wrong{"pla-iterator-value", "for i where 0 <= i < N { y[i] = x[i] + i; }"},
        Wrong{"pla-operand", "for i where 0 <= i < N { y[i] = x[i] & x[i]; }"},
        Wrong{"pla-conversion", "variable z: int;\nfor i where 0 <= i < N { z[i] = x[i]; y[i] = z[i]; }"},
        Wrong{"pla-unknown-function", "for i where 0 <= i < N { y[i] = sqr(x[i]); }"},
        Wrong{"pla-arguments", "for i where 0 <= i < N { y[i] = sqrt(x[i], 1); }"},
        Wrong{"pla-number-range",
              "input z: int8[N];\nvariable u: int8;\nfor i where 0 <= i < N { u[i] = 300; y[i] = u[i]; }"},
        Wrong{"pla-reduced-over", "for i where 0 <= i < N { y[i] = sum[N](x[i]); }"},
        Wrong{"pla-nested-reduction", "for i, k where 0 <= i < N and 0 <= k < N { y[i] = sum[k](sum[k](x[k])); }"},
        Wrong{"equations-defined-twice", "for i, j where 0 <= i < N and 0 <= j < 2 { y[i] = x[i]; }"},
        Wrong{"equations-undefined", "for i where 0 <= i < N { v[i] = v[i - 1]; y[i] = v[i]; }"},
        Wrong{"equations-reduction-guard",
              "for i, k where 0 <= i < N and 0 <= k < N { y[i] = sum[k](x[k]) if k > 0; }"},
        Wrong{"equations-reduction-gaps",
              "for i, k where 0 <= i < N and 0 <= k < N and k mod 2 == 0 { y[i] = sum[k](x[k]); }"},
        Wrong{"equations-several-reductions",
              "for i, k, l where 0 <= i < N and 0 <= k < N and 0 <= l < N { y[i] = sum[k](x[k]) + sum[l](x[l]); }"},
        Wrong{"equations-index-range", "for i where 0 <= i < N { y[i] = x[i + 1]; }"},
        Wrong{"equations-missing-output", "for i where 1 <= i < N { y[i] = x[i]; }"},
        Wrong{"equations-not-uniform", "for i where 0 <= i < N { v[i] = x[i]; y[i] = v[N - 1 - i] + v[0]; }"},
        Wrong{"equations-too-hard",
              "for i where 0 <= i < N { y[i] = x[i] if i mod 100 != 1; y[i] = 0 if i mod 100 == 1; }"},
        Wrong{"equations-unbounded", "for i where i < N { y[i] = x[i]; }"},
        Wrong{"equations-no-order", "for i where 0 <= i < N { v[i] = w[i]; w[i] = v[i]; y[i] = v[i]; }"},
        // One from its last to its first, the other from its first to its last, each from the other.
        Wrong{"equations-order-unknown", "for i where 0 <= i < N { v[i] = w[N - 1 - i]; w[i] = x[0] if i == 0; "
                                         "w[i] = v[N - i] if i > 0; y[i] = v[i]; }"}));

TEST(Programs, TextThatIsNoProgram) {
  EXPECT_TRUE(Read(std::string("parameter N;\0", 13)).says("pla-no-text"));
  EXPECT_TRUE(Read("parameter N;\noutput y: int[N];\nfor i where 0 <= i < N { y[i] = " + std::string(5000, '('))
                  .says("pla-too-deep"));
  std::string sum = "1";
  for (int i = 0; i < 5000; ++i)
    sum += " + 1";
  EXPECT_TRUE(
      Read("parameter N;\noutput y: int[N];\nfor i where 0 <= i < N { y[i] = " + sum + "; }").says("pla-too-deep"));
}

TEST(Programs, AnUnusedVariableIsAWarning) {
  const Read unused(
      "parameter N >= 1;\ninput x, z: float[N];\noutput y: float[N];\nfor i where 0 <= i < N { y[i] = x[i]; }");
  EXPECT_TRUE(unused.graph);
  EXPECT_TRUE(unused.says("pla-never-used"));
}

} // namespace

} // namespace strata::pla
