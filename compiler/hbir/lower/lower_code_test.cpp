// Statements and expressions of tile code, executed, against what C++ computes.
#include "compiler/hbir/lower/lower_testing.h"

#include <cmath>
#include <limits>

namespace strata::hbir::testing {
namespace {

constexpr int big = std::numeric_limits<int>::max(), small = std::numeric_limits<int>::min();

std::string withResults(const std::string& statements) {
  return R"(
target { memory g[1] { size 1M; width 8B; }; tile t[1][1]; }
config { group tg[1][1] { tile target.t[x][y]; }; }
data {
  A : int[2] = block[1] { target.g[x]; host; };
  X : float[2] = block[1] { target.g[x]; host; };
  R : int[1] = block[1] { target.g[x]; device; };
  F : float[1] = block[1] { target.g[x]; device; };
}
code { config.tg[x][y] { int a = A[0]; int b = A[1]; float u = X[0]; float v = X[1]; int r = 0; float f = 0.0;
)" + statements +
         "\n R[0] = r; F[0] = f; } }\n";
}

struct Results {
  int r = 0;
  float f = 0;
};

Results evaluate(const std::string& statements, int a = 0, int b = 0, float u = 0, float v = 0,
                 std::string* failure = nullptr) {
  LoweredProgram subject(withResults(statements));
  std::vector<int> ints{a, b}, r(1);
  std::vector<float> floats{u, v}, f(1);
  bool good = subject.run({array(ints), array(floats), array(r), array(f)});
  if (failure)
    *failure = subject.failure;
  else
    EXPECT_TRUE(good) << subject.rendered() << subject.text();
  return {r[0], f[0]};
}

int whole(const std::string& statements, int a = 0, int b = 0, float u = 0, float v = 0) {
  return evaluate(statements, a, b, u, v).r;
}
float real(const std::string& statements, float u = 0, float v = 0, int a = 0, int b = 0) {
  return evaluate(statements, a, b, u, v).f;
}
std::string failure(const std::string& statements, int a = 0, int b = 0) {
  std::string code;
  evaluate(statements, a, b, 0, 0, &code);
  return code;
}

TEST(HbirLowerCode, Ints) {
  EXPECT_EQ(whole("r = a * 7 - b / 3 + a % 5;", 1234, -77), 1234 * 7 - -77 / 3 + 1234 % 5);
  EXPECT_EQ(whole("r = -a % 7 + -a / 4;", 1234), -1234 % 7 + -1234 / 4);
  EXPECT_EQ(whole("r = (a & 12) + (a | 3) * 2 + (a ^ b) * 3;", 27, -6), (27 & 12) + (27 | 3) * 2 + (27 ^ -6) * 3);
  EXPECT_EQ(whole("r = (a << 3) + (b >> 2) + ~a;", 9, -77), (9 << 3) + (-77 >> 2) + ~9);
  EXPECT_EQ(whole("r = min(a, b) * 10 + max(a, 4) + abs(b);", 9, -2), -2 * 10 + 9 + 2);
  EXPECT_EQ(whole("r = a < b ? 1 : a == b ? 2 : 3;", 4, 4), 2);
  EXPECT_EQ(whole("r += 5; r = r * 3; r += a;", 7), 22);
}

TEST(HbirLowerCode, StoredIntsKeep32Bits) {
  EXPECT_EQ(whole("r = a + 1;", big), small);
  EXPECT_EQ(whole("r = a * a / a;", big), big); // the product has 64 bits
  EXPECT_EQ(whole("int c = a * a; r = c / 2;", 65537), (131073) / 2);
  EXPECT_EQ(whole("r = a / b;", small, -1), small);
  EXPECT_EQ(whole("r = a / -1;", 12), -12);
  EXPECT_EQ(whole("r = a % -1;", small), 0);
  EXPECT_EQ(whole("r = abs(a) / 2;", small), 1 << 30);
  EXPECT_EQ(whole("r = a; r += a; r += a;", big), big - 2);
  EXPECT_EQ(whole("r = (1 << a) / 4;", 33), small);
  EXPECT_EQ(whole("r = (1 << a) ? 1 : 2;", 33), 1); // not 0, though the 32 bits that would be stored are
  EXPECT_EQ(whole("f = 1 << a; r = f / 1048576.0;", 33), 1 << 13);
  EXPECT_EQ(whole("int c = 1 << a; r = c ? 1 : 2;", 33), 2);
}

TEST(HbirLowerCode, WhatHasNoResultEndsTheProgram) {
  EXPECT_EQ(failure("r = a / b;", 1, 0), "division-by-zero");
  EXPECT_EQ(failure("r = a % b;", 1, 0), "division-by-zero");
  EXPECT_EQ(failure("r = (a * a * a * a + b) / b;", 1 << 16, -1), ""); // wraps to -1
  EXPECT_EQ(failure("r = (1 << a) / b;", 63, -1), "division-overflow");
  EXPECT_EQ(failure("r = 1 << a;", 64), "shift-amount");
  EXPECT_EQ(failure("r = 1 >> a;", -1), "shift-amount");
  EXPECT_EQ(failure("r = A[a];", 2), "index-out-of-range");
  EXPECT_EQ(failure("R[a] = 1;", -1), "index-out-of-range");
  EXPECT_EQ(failure("int t[3][4]; r = t[a][b];", 0, 4), "index-out-of-range");
  EXPECT_EQ(failure("for (int i = 0; i <= a; i = i + 1) { r = 1; if (i > 5) bsg_finish(); }", big), "");
  EXPECT_EQ(failure("for (int i = 0; i <= a; i = i + 1) r += 1;", big), "loop-bound-overflow");
  EXPECT_EQ(failure("for (int i = 0; i >= a; i = i - 1) r += 1;", small), "loop-bound-overflow");
}

TEST(HbirLowerCode, Floats) {
  EXPECT_EQ(real("f = u * 2.0 + v / 4.0 - 1.0;", 1.5f, 3.0f), 1.5f * 2.0f + 3.0f / 4.0f - 1.0f);
  EXPECT_EQ(real("f = -u; f += v;", 0.1f, 0.7f), -0.1f + 0.7f);
  EXPECT_EQ(real("f = sqrt(u) + fabs(v) + floor(u);", 6.25f, -3.5f), 2.5f + 3.5f + 6.0f);
  EXPECT_EQ(real("f = exp(u) - log(v);", 0.5f, 2.0f), std::exp(0.5f) - std::log(2.0f));
  EXPECT_EQ(real("f = min(u, v) + pow(u, 2.0);", 3.0f, 2.0f), 2.0f + 9.0f);
  EXPECT_EQ(real("f = u < v ? sin(u) : cos(v);", 3.0f, 2.0f), std::cos(2.0f));
  EXPECT_EQ(real("f = a / b; f += a / 2.0;", 0, 0, 7, 2), 3.0f + 3.5f);
  EXPECT_EQ(whole("r = u; r += v * 10.0;", 0, 0, -2.9f, 1.26f), -2 + 12);
  EXPECT_EQ(whole("r = u;", 0, 0, 1e20f), big);
  EXPECT_EQ(whole("r = u;", 0, 0, -1e20f), small);
  EXPECT_EQ(whole("r = u;", 0, 0, std::nanf("")), 0);
}

TEST(HbirLowerCode, SumsOfProductsAreMarkedForFusing) {
  LoweredProgram subject(withResults("f = u * v + 1.0; f += u * v; f = u * v; f = f + 1.0;"));
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  int marked = 0;
  subject.lowered->module->walk(
      [&](mlir::arith::MulFOp product) { marked += product.getFastmath() == mlir::arith::FastMathFlags::contract; });
  EXPECT_EQ(marked, 2);
}

TEST(HbirLowerCode, Bools) {
  EXPECT_EQ(whole("bool c = a < b; bool d = !c; if (c && !d) r = 1; if (c == d) r = 2;", 1, 2), 1);
  EXPECT_EQ(whole("if (a != 0 && 10 / a > b) r = 1; else r = 2;", 0, 1), 2);
  EXPECT_EQ(whole("if (a == 0 || 10 / a > b) r = 1; else r = 2;", 0, 1), 1);
  EXPECT_EQ(whole("if (a >= 0 && a < 2 && A[a] == 1) r = 1;", 1, 1), 1);
  EXPECT_EQ(whole("if (a >= 0 && a < 2 && A[a] == 1) r = 1;", 2, 1), 0);
  EXPECT_EQ(whole("bool t[3]; t[a] = true; if (t[1] && !t[0] && !t[2]) r = 1;", 1), 1);
}

TEST(HbirLowerCode, Branches) {
  const std::string chain = "if (a == 0) r = 10; else if (a == 1) { r = 11; } else if (a == 2) r = 12; else r = 13;";
  for (int a = 0; a < 4; ++a)
    EXPECT_EQ(whole(chain, a), 10 + a);
  std::string longChain = "while (true) { if (a == 0) r = 0;";
  for (int arm = 1; arm < 60; ++arm)
    longChain += " else if (a == " + std::to_string(arm) + ") r = " + std::to_string(arm * arm) + ";";
  longChain += " else { r = -1; break; } r += 1; break; }";
  for (int a : {0, 1, 37, 59})
    EXPECT_EQ(whole(longChain, a), a * a + 1);
  EXPECT_EQ(whole(longChain, 60), -1);
}

TEST(HbirLowerCode, Loops) {
  EXPECT_EQ(whole("for (int i = 0; i < a; i = i + 3) r += i;", 11), 0 + 3 + 6 + 9);
  EXPECT_EQ(whole("for (int i = 2; i <= a; i += 2) r += i;", 8), 2 + 4 + 6 + 8);
  EXPECT_EQ(whole("for (int i = a; i > 2; i = i - 2) r = r * 10 + i;", 8), 864);
  EXPECT_EQ(whole("for (int i = a; i >= 2; i = i - 1) r = r * 10 + i;", 5), 5432);
  EXPECT_EQ(whole("for (int i = 5; a > i; i = i + 1) r += 1;", 5), 0);
  EXPECT_EQ(whole("int i = 0; for (i = 1; i < a; i = i + 4) r += 1; r = r * 100 + i;", 10), 313);
  EXPECT_EQ(whole("int i = 9; for (i = 3; i < a; i = i + 1) r += 1; r = r * 100 + i;", 2), 3);
  EXPECT_EQ(whole("for (int i = 0; i < a; i = i + 1) { if (i == 1) i = 5; r = r * 10 + i; }", 8), 567);
  EXPECT_EQ(whole("int n = a; for (int i = 0; i < n; i = i + 1) { n = n - 1; r += 1; }", 8), 4);
  EXPECT_EQ(whole("int i = 0; while (i * i < a) i = i + 1; r = i;", 50), 8);
  EXPECT_EQ(whole("for (;;) { r += 1; if (r > a) break; r += 1; }", 5), 7);
  EXPECT_EQ(whole("for (int i = 0; i < 10; i = i + 1) { for (int j = 0; j < 10; j = j + 1) { if (j == i) break; "
                  "r += 1; } if (i == a) break; }",
                  4),
            0 + 1 + 2 + 3 + 4);
  EXPECT_EQ(whole("for (int i = 0; i < 4; i = i + 1) { int fresh; fresh += i; r += fresh; }"), 6);
  EXPECT_EQ(whole("while (true) { if (a > 3) break; int late = a * 2; if (late > 4) break; r = late; a = a + 1; }", 1),
            4);
}

TEST(HbirLowerCode, CountedLoopsStayFors) {
  LoweredProgram subject(withResults(R"(
  int step = 2 * 3;
  for (int i = 0; i < a; i = i + step) r += i;
  for (int i = a; 0 < i; i -= 1) r += i;
  for (int i = 0; i < a; i = i + 1) { if (i == b) { r += 1; } else { for (int j = 0; j <= i; j += 1) r += j; } }
)"));
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  EXPECT_EQ(subject.count<mlir::scf::ForOp>(), 4);
  EXPECT_EQ(subject.count<mlir::scf::WhileOp>(), 0);
}

TEST(HbirLowerCode, RangeLoopsOfFormB) {
  LoweredProgram subject(R"(
target { memory g[1] { size : 1M, width : 8 }; tile t[1][1]; }
config { arrange t as { group foo at (0:1, 0:1); } }
data { in A : int[2] { location : target.g, layout : block } out R : int[4] { location : target.g, layout : block } }
code {
  t.foo {
    for i in [0:4] { R[i] = 0; }
    for i in [A[0]:A[1]] { R[0] += i; }
    for i in [A[0]:A[1]] { if (i == 5) break; R[1] += i; }
    for i in [A[1]:A[0]] { R[2] += 1; }
    for i in [0:4] { for j in [i:4] { R[3] += 1; } }
  }
}
)");
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  std::vector<int> a{2, 9}, r(4);
  ASSERT_TRUE(subject.run({array(a), array(r)})) << subject.rendered();
  EXPECT_EQ(r, (std::vector<int>{2 + 3 + 4 + 5 + 6 + 7 + 8, 2 + 3 + 4, 0, 4 + 3 + 2 + 1}));
}

TEST(HbirCodeLowering, NamesOfTheRuntimeAreTheProgramsToo) {
  LoweredProgram program(
      R"(target { memory main { size 1M; width 8; }; tile module[2][2] { memory func { size 1K; width 8; }; }; }
config { group strata_main[2][2] { tile target.module[x][y]; }; }
data { strata : int[4] = block[2][2] { target.module.func[x][y]; replicated; device; }; index = 3; }
code { int start; config.strata_main[x][y] { strata[0] = index + start; } })");
  std::vector<int32_t> result(4);
  ASSERT_TRUE(program.run({array(result)})) << program.rendered();
  EXPECT_EQ(result[0], 3);
}

} // namespace
} // namespace strata::hbir::testing
