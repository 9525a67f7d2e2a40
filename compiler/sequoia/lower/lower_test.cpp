// Lowered programs, executed: examples, statements and expressions against what C++ computes.
#include "compiler/sequoia/lower/lower_testing.h"

namespace strata::sequoia::testing {
namespace {

TEST(SequoiaLower, VectorAdd) {
  for (const char* machine : {"host", "cell"}) {
    LoweredProgram subject(exampleText("vectadd"), "", machine);
    ASSERT_TRUE(subject.lowered) << subject.rendered();
    std::vector<float> a(10007), b(10007), c(10007, -1.0f);
    std::iota(a.begin(), a.end(), 0.0f);
    std::iota(b.begin(), b.end(), 5.0f);
    ASSERT_TRUE(subject.run({array(a), array(b), array(c)})) << subject.rendered() << subject.text();
    for (size_t i = 0; i < c.size(); ++i)
      ASSERT_EQ(c[i], a[i] + b[i]) << i;
    b.resize(500);
    EXPECT_FALSE(subject.run({array(a), array(b), array(c)}));
    EXPECT_EQ(subject.failure, "sequoia-size-mismatch");
  }
}

TEST(SequoiaLower, MatrixProduct) {
  LoweredProgram subject(exampleText("matmul"), R"(
#include "host"
task Product : entrypoint(Outer) {
  instance Outer::Blocks(level 0) { tunable height = 8; tunable width = 16; tunable depth = 5;
    control(level 0) { loop row() { spmd { ways = 4; } } callsite Product() { target Inner() { } } } }
  instance Inner::Rows(level 0) { }
}
)");
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  const int64_t m = 19, p = 13, n = 35;
  std::vector<float> a(m * p), b(p * n), c(m * n, 1.0f);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>(i % 7);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<float>(i % 5) - 2;
  ASSERT_TRUE(subject.run({matrix(c, m), matrix(a, m), matrix(b, p)})) << subject.rendered() << subject.text();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 1;
      for (int64_t k = 0; k < p; ++k)
        sum += a[i * p + k] * b[k * n + j];
      ASSERT_EQ(c[i * n + j], sum) << i << ' ' << j;
    }
  b.resize(12 * n);
  EXPECT_FALSE(subject.run({matrix(c, m), matrix(a, m), matrix(b, 12)}));
  EXPECT_EQ(subject.failure, "sequoia-size-mismatch");
}

TEST(SequoiaLower, Convolution) {
  for (const char* machine : {"host", "cell"}) {
    LoweredProgram subject(exampleText("conv2d"), "", machine);
    ASSERT_TRUE(subject.lowered) << subject.rendered();
    const int64_t m = 37, n = 41, u = 3, v = 5, width = n + v - 1;
    std::vector<float> a((m + u - 1) * width), h(u * v), c(m * n);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<float>(i % 11);
    std::iota(h.begin(), h.end(), -4.0f);
    ASSERT_TRUE(subject.run({matrix(h, u), matrix(a, m + u - 1), matrix(c, m)})) << subject.rendered();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < u; ++k)
          for (int64_t l = 0; l < v; ++l)
            sum += h[k * v + l] * a[(i + k) * width + j + l];
        ASSERT_EQ(c[i * n + j], sum) << i << ' ' << j;
      }
  }
}

TEST(SequoiaLower, Reductions) {
  for (const char* machine : {"host", "cell"}) {
    LoweredProgram histogram(exampleText("histogram"), "", machine);
    ASSERT_TRUE(histogram.lowered) << histogram.rendered();
    std::vector<int> data(5000), bins(16, 3), expected(16, 3);
    for (size_t i = 0; i < data.size(); ++i)
      ++expected[data[i] = static_cast<int>((i * i) % 16)];
    ASSERT_TRUE(histogram.run({array(data), array(bins)})) << histogram.rendered();
    EXPECT_EQ(bins, expected);
    data[17] = 16;
    EXPECT_FALSE(histogram.run({array(data), array(bins)}));
    EXPECT_EQ(histogram.failure, "index-out-of-range") << histogram.rendered();

    LoweredProgram sum(exampleText("sum"), "", machine);
    ASSERT_TRUE(sum.lowered) << sum.rendered();
    std::vector<float> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0.0f);
    float total = 0.5f;
    ASSERT_TRUE(sum.run({array(numbers), reference(total)})) << sum.rendered() << sum.text();
    EXPECT_EQ(total, 499500.5f);
  }
}

TEST(SequoiaLower, Integers) {
  const int big = std::numeric_limits<int>::max(), small = std::numeric_limits<int>::min();
  EXPECT_EQ(evaluate<int>("int", "r = a * 7 - b / 3 + a % 5 - (b << 3) + (a >> 2);", 1234, -77),
            1234 * 7 - -77 / 3 + 1234 % 5 - (-77 * 8) + (1234 >> 2));
  EXPECT_EQ(evaluate<int>("int", "r = -a % 7 + (-a >> 3) + ~b + !a + !b;", 1234, 0),
            -1234 % 7 + (-1234 >> 3) + ~0 + 0 + 1);
  EXPECT_EQ(evaluate<unsigned>("unsigned", "unsigned c = a; r = (c - 5u) / 3u + (c >> 1) % 7u;", 2),
            (2u - 5u) / 3u + (2u >> 1) % 7u);
  EXPECT_EQ(evaluate<long>("long", "r = (long)a * b;", big, 17), static_cast<long>(big) * 17);
  EXPECT_EQ(evaluate<int>("int", "signed char c = a; unsigned char d = a; short e = a; r = c + d + e;", 0x1ff80),
            static_cast<signed char>(0x80) + 0x80 + static_cast<short>(0xff80));
  EXPECT_EQ(evaluate<int>("int", "r = a < b && b > 0 || a == b ? a : b;", 3, -3), -3);
  EXPECT_EQ(evaluate<int>("int", "unsigned c = b; r = (a < b) * 4 + (a > c) * 2 + (c >= 5u);", 3, -3), 1);
  EXPECT_EQ(
      evaluate<int>("int",
                    "int b2 = b; r = 5; r += a; r *= 3; r -= b2++; r <<= 1; r ^= b2; r |= 64; r &= 0xfff; r %= 1000;",
                    7, 2),
      71);
  EXPECT_EQ(evaluate<int>("int", "int i = a; r = i++ * 100; r += ++i * 10; r += i--; r += --i;", 3), 358);
  EXPECT_EQ(evaluate<signed char>("signed char", "signed char c = 127; c++; r = c;"), -128);
  EXPECT_EQ(evaluate<unsigned char>("unsigned char", "r = 200; r += a;", 100), 44);
  EXPECT_EQ(evaluate<int>("int", "r = max(a, b) * 10 + min(a, 4) + abs(b);", 9, -2), 96);
  EXPECT_EQ(evaluate<int>("int", "r = a / -1 + a % -1;", 12), -12);
  std::string failure;
  evaluate<int>("int", "r = a / b;", 1, 0, 0, 0, "", &failure);
  EXPECT_EQ(failure, "division-by-zero");
  evaluate<int>("int", "r = a % b;", small, -1, 0, 0, "", &failure);
  EXPECT_EQ(failure, "division-overflow");
  evaluate<int>("int", "r = 1 << b;", 0, 32, 0, 0, "", &failure);
  EXPECT_EQ(failure, "shift-amount");
  evaluate<int>("int", "r = 1 >> b;", 0, -1, 0, 0, "", &failure);
  EXPECT_EQ(failure, "shift-amount");
}

TEST(SequoiaLower, FloatingPoint) {
  EXPECT_EQ(evaluate<double>("double", "r = x * 2 + y / 4 - 1;", 0, 0, 1.5, 3), 1.5 * 2 + 3.0 / 4 - 1);
  EXPECT_EQ(evaluate<float>("float", "r = x; r *= 3; r = -r;", 0, 0, 0.1), -(0.1f * 3));
  EXPECT_EQ(
      evaluate<double>("double", "r = sqrt(x) + fabs(y) + floor(y) + ceil(y) + round(y) + trunc(y);", 0, 0, 2.25, -2.5),
      1.5 + 2.5 - 3 - 2 - 3 - 2);
  EXPECT_DOUBLE_EQ(evaluate<double>("double", "r = hypot(x, y);", 0, 0, 3e200, 4e200), 5e200);
  EXPECT_EQ(evaluate<double>("double", "r = fmin(x, y) * 10 + fmax(x, y) + fmod(y, x) + pow(x, 2.0);", 0, 0, 3, 8),
            30 + 8 + 2 + 9);
  EXPECT_EQ(evaluate<int>("int", "r = (int)x * 1000 + (int)y;", 0, 0, 3.99, -2.99), 3000 - 2);
  EXPECT_EQ(evaluate<int>("int", "r = x;", 0, 0, 1e20), std::numeric_limits<int>::max());
  EXPECT_EQ(evaluate<int>("int", "r = x;", 0, 0, -1e20), std::numeric_limits<int>::min());
  EXPECT_EQ(evaluate<int>("int", "r = x / y;", 0, 0, 0, 0), 0);
  EXPECT_EQ(evaluate<unsigned>("unsigned", "r = x;", 0, 0, 4294967295.5), 4294967295u);
  EXPECT_EQ(evaluate<unsigned char>("unsigned char", "r = x;", 0, 0, -0.5), 0);
  EXPECT_EQ(evaluate<long>("long", "r = (float)x;", 0, 0, 9.3e18), std::numeric_limits<long>::max());
  EXPECT_EQ(evaluate<int>("int", "r = x < y || x != x ? 1 : !x;", 0, 0, 0, -1), 1);
  EXPECT_EQ(evaluate<double>("double", "unsigned c = a; r = c + 0.5;", -1), 4294967295.5);
}

TEST(SequoiaLower, Statements) {
  EXPECT_EQ(evaluate<int>("int",
                          "r = 0; for (int i = 0; i < a; i++) { if (i == 3) continue; if (i == b) break; r += i; }",
                          100, 10),
            45 - 3);
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (int i = 0; i < a; i++) { if (i % 2) continue; r += i; }", 10), 20);
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (int i = a; i > 0; i -= 3) r = r * 10 + i;", 10), 10741 - 0);
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (int i = a; i >= 0; i--) r = r * 10 + i;", 4), 43210);
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (unsigned i = a; i > 0; i--) r = r * 10 + i;", 4), 4321);
  EXPECT_EQ(evaluate<int>("int", "int i; r = 0; for (i = 2; i <= a; i += 3) r += i; r = r * 100 + i;", 10),
            (2 + 5 + 8) * 100 + 11);
  EXPECT_EQ(evaluate<int>("int", "int i = 7; r = 0; for (i = 5; i < a; i++) r++; r = r * 100 + i;", 3), 5);
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (int i = 0; i < a; i++) { i++; r += i; }", 10), 1 + 3 + 5 + 7 + 9);
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (;;) { if (++r > a) break; }", 10), 11);
  EXPECT_EQ(evaluate<int>("int", "r = 0; int n = a; while (n) { r += n--; if (r > 20) break; }", 10), 27);
  EXPECT_EQ(evaluate<int>("int", "r = 0; do { r++; if (r == 2) continue; r += 10; } while (r < a);", 30), 33);
  EXPECT_EQ(
      evaluate<int>(
          "int",
          "r = 0; for (int i = 0; i < 3; i++) for (int j = 0; j < 10; j++) { if (j > i) break; r += 10 * i + j; }"),
      0 + 10 + 11 + 20 + 21 + 22);
  const std::string chosen = "r = 0; switch (a) { case 1: r += 1; case 2: r += 10; break; case -3: case 4: { if (b) "
                             "break; r += 100; } default: r += 1000; break; case 7: r = 7; }";
  for (auto [a, b, expected] : {std::tuple(1, 0, 11), {2, 0, 10}, {-3, 0, 1100}, {4, 1, 0}, {9, 0, 1000}, {7, 0, 7}})
    EXPECT_EQ(evaluate<int>("int", chosen, a, b), expected) << a << ' ' << b;
  // Many sections, of which none falls into the next, with values of both signs, several values and jumps.
  std::string many =
      "r = 0; for (int i = 0; i < 3; i++) { switch (a) { case 90: case 91: { if (i == 1) continue; r += 5; "
      "} break; ";
  for (int k = -20; k <= 20; ++k)
    many += "case " + std::to_string(3 * k) + ": { if (b && i == 2) break; r += " + std::to_string(k + 1000) +
            "; } break; ";
  many += "default: r += 7; }  r += 10000; }";
  for (auto [a, b, expected] : {std::tuple(-60, 0, 32940),
                                {-60, 1, 31960},
                                {0, 0, 33000},
                                {60, 0, 33060},
                                {-3, 0, 32997},
                                {1, 0, 30021},
                                {-61, 0, 30021},
                                {63, 1, 30021},
                                {91, 0, 20010},
                                {90, 1, 20010}})
    EXPECT_EQ(evaluate<int>("int", many, a, b), expected) << a << ' ' << b;
  EXPECT_EQ(
      evaluate<int>(
          "int", "r = 0; for (int i = 0; i < a; i++) { switch (i) { case 3: continue; case 5: r += 100; } r++; }", 8),
      107);
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (int i = 0; i < a; i++) { if (i == 5) break; int k = i * 2; r += k; }", 8),
            20);
}

TEST(SequoiaLower, InlineFunctions) {
  const std::string functions =
      "inline int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a; }\n"
      "inline int find(int n, int limit) { for (int i = 2; i < limit; i++) { if (n % i == 0) return i; } return -1; }\n"
      "inline double square(double x) { return x * x; }\n"
      "inline int sign(int n) { if (n < 0) return -1; else if (n > 0) return 1; return 0; }\n";
  EXPECT_EQ(evaluate<int>("int", "r = gcd(a, b);", 84, 36, 0, 0, functions), 12);
  EXPECT_EQ(evaluate<int>("int", "r = find(a, 100) * 1000 + find(b, 10);", 91, 97, 0, 0, functions), 6999);
  EXPECT_EQ(evaluate<double>("double", "r = square(square(x)) + square(y);", 0, 0, 3, 2, functions), 85);
  EXPECT_EQ(evaluate<int>("int", "r = sign(a) * 10 + sign(b) + sign(0) * 100;", -5, 7, 0, 0, functions), -9);
  EXPECT_EQ(
      evaluate<int>(
          "int",
          "r = 0; for (int i = 1; i < a; i++) { if (gcd(i, a) != 1) continue; if (sign(r - b) > 0) break; r += i; }",
          12, 5, 0, 0, functions),
      6);
}

TEST(SequoiaLower, Records) {
  const std::string types =
      "typedef struct { float re; float im; } cmplx;\nstruct particle { cmplx at; int kind[3]; char tag; };\n";
  EXPECT_EQ(
      evaluate<int>("int",
                    "struct particle p; p.at.re = 2; p.at.im = 3; for (int i = 0; i < 3; i++) p.kind[i] = i + a; p.tag "
                    "= b; struct particle q = p; q.kind[1] += 5; "
                    "cmplx c = q.at; r = c.re * 10 + c.im + q.kind[2] * 100 + q.kind[1] * 1000 + p.kind[1] + q.tag;",
                    4, 300, 0, 0, types),
      23 + 600 + 10000 + 5 + 44);
  LoweredProgram subject(
      types + "void task T(in cmplx A[N], inout cmplx B[N], in cmplx s);\n"
              "void task<leaf> T::L(in cmplx A[N], inout cmplx B[N], in cmplx s) { for (long i = 0; i < N; i++) "
              "{ cmplx t; t.re = A[i].re * s.re - A[i].im * s.im; t.im = A[i].re * s.im + A[i].im * s.re; B[i].re += "
              "t.re; B[i].im += t.im; } }");
  struct Complex {
    float re, im;
  };
  std::vector<Complex> a{{1, 2}, {3, 4}}, b{{10, 20}, {30, 40}};
  Complex s{0, 1};
  ASSERT_TRUE(subject.run({array(a), array(b), Argument::record(&s)})) << subject.rendered();
  EXPECT_EQ(b[1].re, 26);
  EXPECT_EQ(b[1].im, 43);
  std::string failure;
  evaluate<int>("int", "struct particle p; p.kind[a] = 1; r = 1;", 3, 0, 0, 0, types, &failure);
  EXPECT_EQ(failure, "index-out-of-range");
}

TEST(SequoiaLower, LoopBoundsThatDoNotFit) {
  std::string failure;
  evaluate<int>("int", "r = 0; long n = 300; n += a; for (unsigned char i = 0; i < n; i++) r++;", 0, 0, 0, 0, "",
                &failure);
  EXPECT_EQ(failure, "loop-bound-overflow");
  EXPECT_EQ(evaluate<int>("int", "r = 0; long n = 250; n += a; for (unsigned char i = 0; i < n; i++) r++;", 5), 255);
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (unsigned i = 5; i < a - 10; i++) r++;", 20), 5);
  evaluate<int>("int", "r = 0; for (unsigned short i = 15; i > b; i--) r++;", 0, -1, 0, 0, "", &failure);
  EXPECT_EQ(failure, "loop-bound-overflow");
  evaluate<int>("int", "r = 0; for (signed char i = 15; i >= b; i--) r++;", 0, -300, 0, 0, "", &failure);
  EXPECT_EQ(failure, "loop-bound-overflow");
  evaluate<int>("int", "r = 0; for (long i = a; i <= 0x7fffffffffffffff; i++) r++;", 5, 0, 0, 0, "", &failure);
  EXPECT_EQ(failure, "loop-bound-overflow");
  evaluate<int>("int", "r = 0; long n = -0x7fffffffffffffff; n += b; for (long i = a; i > n; i--) r++;", 5, 0, 0, 0, "",
                &failure);
  EXPECT_EQ(failure, "loop-bound-overflow");
}

TEST(SequoiaLower, LoopsAtTheLimitsOfTheirTypes) {
  // What wraps goes on as in C.
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (unsigned char i = 0; i < 255; i += 7) r++;"), 73);
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (unsigned char i = 250; i > 5; i++) r++;"), 6);
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (unsigned i = 7; i > 1 && r < 9; i -= 5) r++;"), 9);
  EXPECT_EQ(evaluate<int>("int", "r = 0; for (unsigned short i = 15; i > b; i--) r += i;", 0, 3), 114);
  // Numbers of 2^63 and more, and ranges that are empty by more than 2^63.
  const std::string far = "unsigned long n = 0xfffffffffffffff6; n += a; r = 0; ";
  EXPECT_EQ(evaluate<int>("int", far + "for (unsigned long i = n; i < 0xfffffffffffffffd; i++) r++;", 2), 5);
  EXPECT_EQ(evaluate<int>("int", far + "for (unsigned long i = n; i > 0xfffffffffffffff0; i -= 2) r++;", 2), 4);
  EXPECT_EQ(evaluate<int>("int", far + "for (unsigned long i = 5; i > n; i--) r++;", 0), 0);
  EXPECT_EQ(evaluate<int>(
                "int", far + "n -= 0x7ffffffffffffff6; for (unsigned long i = 0x7fffffffffffffff; i < n; i++) r++;", 2),
            3);
  EXPECT_EQ(evaluate<int>("int", "r = 0; long n = 0x7fffffffffffffff; n -= b; for (long i = -7 + a; i >= n; i--) r++;"),
            0);
}

TEST(SequoiaLower, ConstantsAreWhatTheRunGives) {
  EXPECT_EQ(evaluate<unsigned long>("unsigned long", "r = (unsigned long)(-3.0);"), 0u);
  EXPECT_EQ(evaluate<unsigned long>("unsigned long", "r = (unsigned long)x;", 0, 0, -3), 0u);
  EXPECT_EQ(evaluate<unsigned long>("unsigned long", "r = (unsigned long)1e30;"), ~0UL);
  EXPECT_EQ(evaluate<int>("int", "r = (unsigned char)300.0f + (unsigned char)(-1.0) + (short)(-1e9);"), 255 - 32768);
  std::string failure;
  for (const char* text : {"r = a / -1;", "r = a % -1;", "r = a; r /= -1;", "r = (-2147483647 - 1) / -1;",
                           "r = (-2147483647 - 1) % -1;", "long n = (-0x7fffffffffffffff - 1) / -1; r = n;"}) {
    evaluate<int>("int", text, -2147483647 - 1, 0, 0, 0, "", &failure);
    EXPECT_EQ(failure, "division-overflow") << text;
  }
  evaluate<int>("int", "r = 1 << 32;", 0, 0, 0, 0, "", &failure);
  EXPECT_EQ(failure, "shift-amount");
}

} // namespace
} // namespace strata::sequoia::testing
