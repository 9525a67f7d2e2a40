// Syntax: what is refused and how parsing goes on after an error.
#include "compiler/sequoia/sequoia_testing.h"

namespace strata::sequoia::testing {
namespace {

TEST(SequoiaParser, RefusesWhatSequoiaLeavesOut) {
  for (const char* keyword : {"auto", "extern", "register", "static", "volatile"}) {
    Session session(leaf(std::string(keyword) + " int a = 1;"));
    EXPECT_EQ(session.codes(), "sequoia-unsupported-keyword") << session.rendered();
  }
  Rule rules[] = {
      {"sequoia-unsupported-keyword", leaf("goto end;"), ""},
      {"sequoia-pointer", leaf("int *p;"), leaf("int p; p = 1;")},
      {"sequoia-pointer", "void task T(in float *A);", "void task T(in float A);"},
      {"sequoia-plain-function", "int f(int a) { return a; }", "inline int f(int a) { return a; }"},
      {"sequoia-global-variable", "int a;", "enum { a = 1 };"},
      {"sequoia-type-specifier", leaf("long double d;"), leaf("double d; d = 1;")},
      {"sequoia-type-specifier", leaf("unsigned float d;"), leaf("unsigned long int d; d = 1;")},
      {"sequoia-syntax", leaf("y = ;"), leaf("y = 1;")},
      {"sequoia-syntax", leaf("y = 1"), ""},
      {"sequoia-syntax", "void task<outer> T::L(in int a) { }", ""},
      {"sequoia-syntax", "void task T(int a);", "void task T(in int a);"},
  };
  for (const Rule& rule : rules)
    testRule(rule);
}

TEST(SequoiaParser, ReportsSeveralErrors) {
  Session session(leaf("y = ; \n y = 1; \n for (y = 0; y < ; y++) { y = 2; } \n y = (1; \n y = 3;") +
                  "void task U(int a);\n");
  EXPECT_EQ(session.codes(), "sequoia-syntax sequoia-syntax sequoia-syntax sequoia-syntax") << session.rendered();
}

TEST(SequoiaParser, SaysThatANameIsAKeyword) {
  Session session("struct S { int in; float copy[2]; int other; };\n" + leaf("struct S s; int task; y = s.other;"));
  EXPECT_EQ(session.codes(), "sequoia-syntax sequoia-syntax sequoia-syntax") << session.rendered();
  for (const char* word : {"'in'", "'copy'", "'task'"})
    EXPECT_NE(session.rendered().find(std::string(word) + " is a keyword; take another name"), std::string::npos)
        << session.rendered();
  // The end of a struct that is missing is no reason to take what follows for its members.
  Session open("struct S {\n  float copy;\n  int a;\n" + leaf("y = 1;") + "void task U(in int a);");
  EXPECT_EQ(open.codes(), "source-missing-closing-brace sequoia-syntax") << open.rendered();
}

TEST(SequoiaParser, BoundsNesting) {
  std::string deep(100000, '(');
  Session parentheses(leaf("y = " + deep + "1;"));
  EXPECT_TRUE(parentheses.find("sequoia-nesting"));
  std::string braces(100000, '{');
  EXPECT_TRUE(Session(leaf(braces)).find("sequoia-nesting"));
  std::string signs;
  for (int i = 0; i < 100000; ++i)
    signs += "- ";
  EXPECT_TRUE(Session(leaf("y = " + signs + "1;")).find("sequoia-nesting"));
  std::string chain = "1";
  for (int i = 0; i < 100000; ++i)
    chain += "+1";
  EXPECT_TRUE(Session(leaf("y = " + chain + ";")).find("sequoia-expression-size"));
  std::string modest = "x";
  for (int i = 0; i < 1500; ++i)
    modest += "+x";
  EXPECT_EQ(Session(leaf("y = " + modest + ";")).codes(), "");
  std::string chained;
  for (int i = 0; i < 100000; ++i)
    chained += "if (x) y = 1; else ";
  EXPECT_TRUE(Session(leaf(chained + "y = 2;")).find("sequoia-nesting"));
}

TEST(SequoiaParser, ReadsTheWholeOfC) {
  Session session(
      "typedef unsigned int uint; typedef struct { float re, im; } cmplx;\n"
      "union U { int i; float f; }; enum Color { red, green = 5, blue };\n"
      "inline uint twice(uint a) { return a << 1; }\n"
      "inline cmplx conj(cmplx c) { c.im = -c.im; return c; }\n" +
      leaf("cmplx c; c.re = 1; c.im = .5e1f; c = conj(c); union U u; u.f = 1; y = u.i;\n"
           "do { y--; } while (y > 0 && !x || y == 3);\n"
           "switch (y) { case red: case green: y = 1; break; case blue: { y ^= 3; } default: ; }\n"
           "y = x ? (y, 2) : twice(3) % 0x1F; y += 'a' + '\\n' + 010 + sizeof(cmplx);\n"
           "for (int i = 0, j = 1; i < N; ++i, j += 2) { if (i == 3) continue; B[i] = fmax(A[i], j) / sqrt(2); }\n"
           "while (1) break; y >>= 2u; y = -y * ~x; y = (char)300; y = abs(-3) + min(1, 2L);"));
  EXPECT_EQ(session.codes(), "") << session.rendered();
}

TEST(SequoiaParser, IsQuick) {
  std::string text = "void task T(in float A[N], inout float B[N]);\n";
  for (int i = 0; i < 200; ++i)
    text += "void task<leaf> T::L" + std::to_string(i) +
            "(in float A[N], inout float B[N]) {\n  int y = 1;\n  for (long i = 0; i < N; i++) {\n"
            "    float a = A[i] * 2 + 1;\n    if (a > 3)\n      B[i] = a * a;\n    else\n      B[i] += y;\n  }\n}\n";
  auto begin = std::chrono::steady_clock::now();
  Session session(text);
  auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(session.codes(), "");
  // About 3 ms when nothing disturbs: what a time that is no longer linear reaches, and nothing else does.
  EXPECT_LT(std::chrono::duration<double>(took).count(), 20.0);
}

} // namespace
} // namespace strata::sequoia::testing
