// Rules of types, names, declarations and C's statements: for each, a program that breaks it and one that nearly does.
#include "compiler/sequoia/sequoia_testing.h"

namespace strata::sequoia::testing {
namespace {

TEST(SequoiaDeclarations, AreChecked) {
  const std::string proto = "void task T(in int A[N]);\n", body = "void task<leaf> T::L(in int A[N]) { }\n";
  Rule rules[] = {
      {"sequoia-redeclared", leaf("int a; int a;"), leaf("int a; { int a; }")},
      {"sequoia-redeclared", "struct S { int a; int a; };", "struct S { int a; int b; };"},
      {"sequoia-redeclared", "void task T(in int A[N], in int A[N]);", "void task T(in int A[N], in int B[N]);"},
      {"sequoia-undeclared", leaf("y = z;"), leaf("int z = 1; y = z;")},
      {"sequoia-incomplete-type", leaf("struct S s;"), leaf("struct S { int a; }; struct S s; y = s.a;")},
      {"sequoia-incomplete-type", "struct S { struct S next; };", "struct R { int a; }; struct S { struct R next; };"},
      {"sequoia-void", leaf("void v;"), ""},
      {"sequoia-typedef-array", "typedef int row[4];", "typedef int row;"},
      {"sequoia-record-size", "struct S { char a[2000000000]; };", "struct S { char a[2000]; };"},
      {"sequoia-record-size", "struct S { char a[2000000000][2000000000]; };", ""},
      {"sequoia-member-extent", "struct S { int a[0]; };", "struct S { int a[1]; };"},
      {"sequoia-no-prototype", body, proto + body},
      {"sequoia-duplicate-variant", proto + body + body, proto + body + "void task<leaf> T::M(in int A[N]) { }\n"},
      {"sequoia-duplicate-prototype", proto + proto, proto},
      {"sequoia-signature", proto + "void task<leaf> T::L(in int A[N][N]) { }",
       proto + "void task<leaf> T::L(in int B[K]) { }"},
      {"sequoia-signature", proto + "void task<leaf> T::L(in long A[N]) { }", ""},
      {"sequoia-signature", proto + "void task<leaf> T::L(inout int A[N]) { }", ""},
      {"sequoia-signature", proto + "void task<leaf> T::L(in int A[N], in int b) { }", ""},
      {"sequoia-size-parameter", "void task T(in int A[N + M], in int B[N]);",
       "void task T(in int A[N + M], in int B[N], in int C[M]);"},
      {"sequoia-size-expression", "void task T(in int A[N], in int B[N * N]);",
       "void task T(in int A[N], in int B[2 * N + 3]);"},
      {"sequoia-size-expression", "void task T(in int A[N], in int B[N / 2]);",
       "void task T(in int A[N], in int B[(N + 1) * 2 - N]);"},
      {"sequoia-size-negative", "void task T(in int A[3 - 5]);", "void task T(in int A[5 - 3]);"},
      {"sequoia-function-array", "inline int f(int a[4]) { return 1; }", "inline int f(int a) { return a; }"},
      {"sequoia-task-name", "inline int T(int a) { return a; }\n" + proto, ""},
      {"sequoia-dimensions", "void task T(in int A[1][1][1][1][1][1][1][1][1][1]);",
       "void task T(in int A[1][1][1][1][1][1][1][1][1]);"},
  };
  for (const Rule& rule : rules)
    testRule(rule);
}

TEST(SequoiaDeclarations, ATypeNameMustNameAType) {
  testRule({"sequoia-unknown-type", "typedef int t; void task T(in int t, in t u);",
            "typedef int t; void task T(in int v, in t u);"});
}

TEST(SequoiaDeclarations, ShowBothSignatures) {
  Session session("void task T(in int A[N]);\nvoid task<leaf> T::L(in float A[N]) { }");
  const Diagnostic* found = session.find("sequoia-signature");
  ASSERT_TRUE(found) << session.rendered();
  EXPECT_EQ(found->labels.size(), 2u);
  EXPECT_NE(found->message.find("'in float A[]' here and 'in int A[]' there"), std::string::npos) << found->message;
}

TEST(SequoiaDeclarations, SuggestTheNearestName) {
  Session session(leaf("int counter = 0; y = countr;"));
  const Diagnostic* found = session.find("sequoia-undeclared");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->helps.size(), 1u);
  EXPECT_EQ(found->helps[0], "did you mean 'counter'?");
}

TEST(SequoiaStatements, AreChecked) {
  Rule rules[] = {
      {"sequoia-break", leaf("break;"), leaf("while (x) break;")},
      {"sequoia-break", leaf("switch (x) { case 1: continue; }"), leaf("for (;;) switch (x) { case 1: continue; }")},
      {"sequoia-return", leaf("return;"), "inline void f(int a) { return; }"},
      {"sequoia-return-value", "inline int f(int a) { return; }", "inline int f(int a) { return a; }"},
      {"sequoia-return-value", "inline void f(int a) { return a; }", ""},
      {"sequoia-missing-return", "inline int f(int a) { if (a) return 1; }",
       "inline int f(int a) { if (a) return 1; else return 2; }"},
      {"sequoia-case", leaf("switch (x) { case 1: { case 2: y = 1; } }"),
       leaf("switch (x) { case 1: case 2: y = 1; }")},
      {"sequoia-duplicate-case", leaf("switch (x) { case 1: y = 1; case 2 - 1: y = 2; }"),
       leaf("switch (x) { case 1: y = 1; default: y = 2; }")},
      {"sequoia-duplicate-case", leaf("switch (x) { default: y = 1; default: y = 2; }"), ""},
      {"sequoia-before-case", leaf("switch (x) { y = 1; case 2: y = 2; }"), ""},
      {"sequoia-array-initializer", leaf("float a[4] = 0;"), leaf("float a[4]; a[0] = 0;")},
      {"sequoia-array-size", leaf("float a[x]; a[0] = 0;"), leaf("float a[2 * N + 1]; a[0] = 0;")},
      {"sequoia-array-size-negative", leaf("float a[-1];"), leaf("float a[0];")},
      {"sequoia-local-dimensions", leaf("float a[1][1][1][1][1][1][1][1][1][1];"),
       leaf("float a[1][1][1][1][1][1][1][1][1];")},
      {"sequoia-function-extension", "inline void f(int a) { tunable t; }", leaf("tunable t; y = t;")},
      {"sequoia-function-extension", "inline void f(int a) { int b[3]; }", ""},
      {"sequoia-const-uninitialized", leaf("const int a;"), leaf("const int a = 1;")},
      {"sequoia-no-effect", leaf("x + 1;"), leaf("y++;")},
  };
  for (const Rule& rule : rules)
    testRule(rule);
}

TEST(SequoiaExpressions, AreChecked) {
  const std::string pair = "struct P { int a; float v[4]; const int c; };\n";
  Rule rules[] = {
      {"sequoia-array-value", leaf("y = A;"), leaf("y = A[0];")},
      {"sequoia-block-value", leaf("y = A[0:1;];"), leaf("y = A[1];")},
      {"sequoia-index-count", leaf("y = A[0][1];"), ""},
      {"sequoia-index-count", "void task T(in int A[M][N]); void task<leaf> T::L(in int A[M][N]) { int y = A[0]; }",
       "void task T(in int A[M][N]); void task<leaf> T::L(in int A[M][N]) { int y = A[0][1]; }"},
      {"sequoia-not-array", leaf("y = x[0];"), ""},
      {"sequoia-not-indexable", pair + leaf("struct P p; p.a = 0; y = p.a[1];"),
       pair + leaf("struct P p; p.v[1] = 0; y = p.v[1];")},
      {"sequoia-index-range", pair + leaf("struct P p; p.v[4] = 0;"), pair + leaf("struct P p; p.v[3] = 0;")},
      {"sequoia-index-range", leaf("float a[4]; a[4] = 0;"), leaf("float a[4]; a[3] = 0;")},
      {"sequoia-index-range", leaf("y = A[-1];"), ""},
      {"sequoia-not-record", leaf("y = x.a;"), ""},
      {"sequoia-unknown-member", pair + leaf("struct P p; p.b = 0;"), pair + leaf("struct P p; p.a = 0;")},
      {"sequoia-member-array", pair + leaf("struct P p; y = p.v;"), ""},
      {"sequoia-type", pair + leaf("struct P p; y = p;"), pair + leaf("struct P p, q; p.a = 1; q = p;")},
      {"sequoia-integer", leaf("y = A[1.5];"), leaf("y = A['b'];")},
      {"sequoia-constant", leaf("switch (x) { case y: y = 1; }"),
       leaf("enum { k = 3 }; switch (x) { case k + 1: y = 1; }")},
      {"sequoia-void-value", "inline void f(int a) { }\n" + leaf("y = f(1);"),
       "inline void f(int a) { }\n" + leaf("f(1);")},
      {"sequoia-cast", pair + leaf("struct P p; p.a = 1; y = (int)p;"), leaf("y = (int)2.5;")},
      {"sequoia-unknown-function", leaf("y = sqt(2.0);"), leaf("y = sqrt(2.0);")},
      {"sequoia-function-order", "inline int g(int a) { return f(a); }\ninline int f(int a) { return a; }",
       "inline int f(int a) { return a; }\ninline int g(int a) { return f(a); }"},
      {"sequoia-function-recursion", "inline int f(int a) { return a ? f(a - 1) : 0; }", ""},
      {"sequoia-argument-count", leaf("y = pow(2.0);"), leaf("y = pow(2.0, 3);")},
      {"sequoia-argument-count", "inline int f(int a) { return a; }\n" + leaf("y = f(1, 2);"), ""},
      {"sequoia-task-value", "void task U(in int a);\n" + leaf("y = U(1);"), ""},
      {"sequoia-sizeof", leaf("y = sizeof A;"), leaf("y = sizeof(float) + sizeof A[0];")},
      {"sequoia-pointer-operator", leaf("y = *x;"), leaf("y = x * x;")},
      {"sequoia-pointer-operator", leaf("y = &x;"), leaf("y = x & x;")},
      {"sequoia-pointer-operator", pair + leaf("struct P p; y = p->a;"), ""},
      {"sequoia-operand-types", leaf("y = 1.5 % 2;"), leaf("y = 5 % 2;")},
      {"sequoia-operand-types", leaf("y = ~1.5;"), leaf("y = ~1;")},
      {"sequoia-operand-types", leaf("B[0] <<= 1;"), leaf("y <<= 1;")},
      {"sequoia-operand-types", pair + leaf("struct P p; p++;"), ""},
      {"sequoia-conditional-types", pair + leaf("struct P p; p = x ? p : 1;"), leaf("y = x ? 1 : 2.5;")},
      {"sequoia-not-assignable", leaf("x + 1 = 2;"), ""},
      {"sequoia-not-assignable", leaf("(y, y) = 2;"), leaf("(y) = 2;")},
      {"sequoia-read-only", leaf("x = 1;"), leaf("y = 1;")},
      {"sequoia-read-only", leaf("A[0] = 1;"), leaf("B[0] = 1;")},
      {"sequoia-read-only", leaf("N++;"), leaf("long n = N; n++;")},
      {"sequoia-read-only", leaf("tunable t; t = 1;"), leaf("tunable t; y = t;")},
      {"sequoia-read-only", leaf("const int c = 1; c = 2;"), leaf("int c = 1; c = 2;")},
      {"sequoia-const-member", pair + leaf("struct P p; p.c = 1;"), ""},
      {"sequoia-division-by-zero", leaf("y = 1 / 0;"), leaf("y = 1 / 2;")},
      {"sequoia-inner-element-write", inner("B[0] = 1;"), inner("y = B[0];")},
  };
  for (const Rule& rule : rules)
    testRule(rule);
}

TEST(SequoiaExpressions, UnknownTypeNamesCannotBeReached) {
  // A typedef that a nested scope declares as a variable is a variable there, and a type again after it.
  Session session(leaf("{ int t = 1; y = t; }"));
  EXPECT_EQ(session.codes(), "");
  Session hidden("typedef int t;\n" + leaf("t a = 1; { int t = 2; y = t + a; } t b = 3; y = b;"));
  EXPECT_EQ(hidden.codes(), "") << hidden.rendered();
}

TEST(SequoiaTypes, FollowTheUsualConversions) {
  TypeTable types;
  auto common = [&](TypeKind a, TypeKind b) { return types.common(types.get(a), types.get(b))->kind; };
  EXPECT_EQ(common(TypeKind::Char, TypeKind::UnsignedShort), TypeKind::Int);
  EXPECT_EQ(common(TypeKind::Int, TypeKind::UnsignedInt), TypeKind::UnsignedInt);
  EXPECT_EQ(common(TypeKind::Long, TypeKind::UnsignedInt), TypeKind::Long);
  EXPECT_EQ(common(TypeKind::Long, TypeKind::UnsignedLong), TypeKind::UnsignedLong);
  EXPECT_EQ(common(TypeKind::LongLong, TypeKind::UnsignedLong), TypeKind::UnsignedLongLong);
  EXPECT_EQ(common(TypeKind::Float, TypeKind::UnsignedLong), TypeKind::Float);
  EXPECT_EQ(common(TypeKind::Float, TypeKind::Double), TypeKind::Double);
}

TEST(SequoiaTypes, AreLaidOutAsInC) {
  struct Inside {
    char a;
    double b[3];
    short c;
  };
  union Either {
    int i;
    char c[6];
  };
  Session session("struct I { char a; double b[3]; short c; }; union E { int i; char c[6]; };\n" +
                  leaf("y = sizeof(struct I); y = sizeof(union E);"));
  ASSERT_TRUE(session.program) << session.rendered();
  std::string text = printAst(*session.program);
  EXPECT_NE(text.find("y = " + std::to_string(sizeof(Inside)) + "\n"), std::string::npos) << text;
  EXPECT_NE(text.find("y = " + std::to_string(sizeof(Either)) + "\n"), std::string::npos) << text;
}

} // namespace
} // namespace strata::sequoia::testing
