// Rules of tasks: what may be called where, arguments, blocks, copies and iteration statements.
#include "compiler/sequoia/sequoia_testing.h"

namespace strata::sequoia::testing {
namespace {

TEST(SequoiaTasks, AreChecked) {
  Rule rules[] = {
      {"sequoia-inner-only", leaf("copy(B, A);"), inner("copy(B, A);")},
      {"sequoia-inner-only", "void task U(in int a);\n" + leaf("U(1);"), ""},
      {"sequoia-inner-only", leaf("mappar (int i = 0 : 2) { T(A, B, 1, y); }"), ""},
      {"sequoia-inner-only", "inline void f(int a) { mapseq (int i = 0 : 2) { f(i); } }", ""},
      {"sequoia-task-arguments", inner("Copy(A);"), inner("Copy(A, B);")},
      {"sequoia-element-type", inner("double d[N]; Copy(A, d);"), inner("float d[N]; Copy(A, d);")},
      {"sequoia-argument-rank", inner("Two(A, B);"), inner("float m[2][3]; Two(m, m);").substr(0, 0)},
      {"sequoia-argument-extent", inner("Four(A[0:3;]);", "void task Four(in float S[4]);\n"),
       inner("Four(A[0:4;]);", "void task Four(in float S[4]);\n")},
      {"sequoia-scalar-argument", inner("Scale(A, B);"), inner("Scale(x, B);")},
      {"sequoia-scalar-argument", inner("Scale(A[0:1;], B);"), inner("Scale(A[0], B);")},
      {"sequoia-out-variable", inner("Count(A, x + 1);"), inner("Count(A, y);")},
      {"sequoia-out-type", inner("long n = 0; Count(A, n);"), inner("int n = 0; Count(A, n);")},
      {"sequoia-scalar-alias", inner("int n = 0; Plus(n, n);"), inner("int n = 0; Plus(n + 0, n);")},
      {"sequoia-scalar-alias",
       inner("float f = 0; Half(f, f);", "void task Half(in int k, inout float f);\n"
                                         "void task<leaf> Half::L(in int k, inout float f) { f = k; }\n"),
       inner("float f = 0; Half((int)f, f);", "void task Half(in int k, inout float f);\n"
                                              "void task<leaf> Half::L(in int k, inout float f) { f = k; }\n")},
      {"sequoia-parallel-write", inner("int k = 0; mappar (int i = 0 : 4) { Scale(k++, B[i;1]); }"),
       inner("int k = 0; mapseq (int i = 0 : 4) { Scale(k++, B[i;1]); }")},
      {"sequoia-parallel-write", inner("int k = 0; mappar (int i = 0 : 4) { Scale(1 + (k = i), B[i;1]); }"), ""},
      {"sequoia-parallel-write", inner("int k = 0; mappar (int i = 0 : 4) { Scale(1, B[k += i;1]); }"),
       inner("int k = 0; mappar (int i = k++ : 4) { Scale(1, B[i;1]); }")},
      {"sequoia-parallel-write",
       inner("int k = 0; mappar (int i = 0 : 4) { mapseq (int j = 0 : k++) { Scale(j, B[i;1]); } }"), ""},
      {"sequoia-parallel-write", inner("int k = 0; mapreduce (int i = 0 : 4) { Count(A[--k;1], reducearg<y, Plus>); }"),
       ""},
      {"sequoia-parallel-scalar", inner("mappar (int i = 0 : 4) { Count(A, y); }"),
       inner("mapseq (int i = 0 : 4) { Count(A, y); }")},
      {"sequoia-parallel-scalar",
       inner("mappar (int i = 0 : 4) { mapreduce (int j = 0 : 4) { Count(A, reducearg<y, Plus>); } }"),
       inner("mapseq (int i = 0 : 4) { mapreduce (int j = 0 : 4) { Count(A, reducearg<y, Plus>); } }")},
      {"sequoia-reducearg-outside", inner("Count(A, reducearg<y, Plus>);"),
       inner("mapreduce (int i = 0 : 4) { Count(A, reducearg<y, Plus>); }")},
      {"sequoia-reducearg", inner("y = sqrt(reducearg<y, Plus>);"), ""},
      {"sequoia-mapreduce-reducearg", inner("mapreduce (int i = 0 : 4) { Scale(x, B[i;1]); }"),
       inner("mappar (int i = 0 : 4) { Scale(x, B[i;1]); }")},
      {"sequoia-reducearg-inout", inner("mapreduce (int i = 0 : 4) { Copy(A, reducearg<B, Add>); }"),
       inner("mapreduce (int i = 0 : 4) { Add(A, reducearg<B, Add>); }")},
      {"sequoia-combiner-unknown", inner("mapreduce (int i = 0 : 4) { Count(A, reducearg<y, Pluss>); }"), ""},
      {"sequoia-combiner-signature", inner("mapreduce (int i = 0 : 4) { Count(A, reducearg<y, Add>); }"), ""},
      {"sequoia-combiner-signature", inner("mapreduce (int i = 0 : 4) { Count(A, reducearg<y, T>); }"), ""},
      {"sequoia-combiner-signature", inner("mapreduce (int i = 0 : 4) { Add(A, reducearg<B, Copy>); }"), ""},
      {"sequoia-loop-variable", inner("mappar (float i = 0 : 4) { Scale(x, B[0;1]); }"), ""},
      {"sequoia-iteration-alias", inner("mappar (int i = 0 : x) { Scale(x, B); }"),
       inner("mappar (int i = 0 : x) { Scale(x, B[i;1]); }")},
      {"sequoia-iteration-overlap", inner("mappar (int i = 0 : 4) { Scale(x, B); }"),
       inner("mappar (int i = 0 : 1) { Scale(x, B); }")},
      {"sequoia-mapreduce-ranges", inner("mapreduce (int i = 0 : 4, int j = 0 : 4) { Count(A, reducearg<y, Plus>); }"),
       ""},
      {"sequoia-map-body", inner("mappar (int i = 0 : 4) { Scale(x, B[i;1]); Scale(x, B[i;1]); }"), ""},
      {"sequoia-map-body", inner("mappar (int i = 0 : 4) { y = 1; }"), ""},
      {"sequoia-map-body", inner("mappar (int i = 0 : 4) Scale(x, B[i;1]);"), ""},
      {"sequoia-map-body",
       inner("mapreduce (int i = 0 : 4) { mapreduce (int j = 0 : 4) { Count(A, reducearg<y, Plus>); } }"), ""},
      {"sequoia-read-only", inner("Copy(B, A);"), inner("Copy(A, B);")},
      {"sequoia-read-only", inner("copy(A, B);"), inner("copy(B, A);")},
      {"sequoia-read-only", inner("mapseq (int i = 0 : 4) { Count(A, i); }"), ""},
      {"sequoia-unknown-task", inner("mapseq (int i = 0 : 4) { Scal(x, B); }"), ""},
      {"sequoia-undeclared", inner("mapseq (int i = 0 : 4) { Scale(x, B); } y = i;"), ""},
  };
  for (const Rule& rule : rules)
    testRule(rule);
}

TEST(SequoiaTasks, WhatWasRefusedSaysNothingOfWhatIterationsShare) {
  const std::string undeclared = "sequoia-undeclared";
  for (const char* body :
       {"tunable blok; mappar (int i = 0 : x) { Scale(x, B[i * block; block]); }",
        "mappar (int i = 0 : x) { Scale(x, B[und;1]); }", "mappar (int i = 0 : 4) { Scale(x, B[0 : und * i;]); }",
        "mappar (int i = 0 : x) { mapseq (int j = i * und : 4) { Scale(x, B[j;1]); } }",
        "mapreduce (int i = 0 : x) { Count(A, reducearg<und, Plus>); }"}) {
    Session session(inner(body));
    EXPECT_EQ(session.codes(), undeclared) << body << session.rendered();
  }
  // Bounds that were refused take nothing away from what a block says of itself.
  Session same(inner("mappar (int i = 0 : und) { Scale(x, B); }"));
  EXPECT_EQ(same.codes(), "sequoia-undeclared sequoia-iteration-alias") << same.rendered();
}

TEST(SequoiaTasks, AnotherNameOrFormIsOneMessageThatSaysWhatIsMeant) {
  struct {
    std::string program;
    const char *code, *help;
  } cases[] = {
      {inner("mappar (int i = 0 : 4) { Scael(x, B[i;1]); }"), "sequoia-unknown-task", "did you mean 'Scale'?"},
      {inner("Scael(x, B);"), "sequoia-unknown-function", "did you mean 'Scale'?"},
      {inner("mappar (int i = 0 : 4) { sqrt(x); }"), "sequoia-iteration-function", "call it in a leaf task"},
      {inner("y = Scale(x, B);"), "sequoia-task-value", "give it an out argument"},
      {inner("mappar (int i = 0 : 4) { y = Scale(x, B[i;1]); }"), "sequoia-map-body", "give 'Scale' an out argument"},
      {inner("mappar (int i = 0 : 4) { y = A[i]; }"), "sequoia-map-body", "the body of a leaf task"},
      {leaf("B(1) = 2;"), "sequoia-unknown-function", "square brackets: B[i]"},
      {leaf("y = A + B;"), "sequoia-array-value", "an element is A[i]"},
      {leaf("y = sizeof(A);"), "sequoia-sizeof", "x[N] has N elements"},
      {leaf("y = length(A);"), "sequoia-unknown-function", "x[N] has N elements"},
      {leaf("B[0] = B[1] ^ 2;"), "sequoia-operand-types", "a power is pow(x, y)"},
      {leaf("B[0] = B[1] ** 2;"), "sequoia-syntax", "a power is pow(x, y)"},
      {leaf("if (x > 1 and x < 3) y = 1;"), "sequoia-syntax", "the operator is '&&'"},
      {leaf("if (x > 1) y = 1; elif (x > 2) y = 2; else y = 3;"), "sequoia-syntax", "'else if'"},
      {leaf("return A;"), "sequoia-return", "results go to out arguments"},
      {leaf("y = \"a\";"), "sequoia-string", "an external task"},
      {inner("Copy(A[x, 4], B);"), "sequoia-mixed-block", "[s; m]"},
      {"void task G(in float a[]);", "sequoia-syntax", "with x[N], N is the number"},
      {inner("mapreduce (int i = 0 : 4) { Count(A, y); }"), "sequoia-mapreduce-reducearg", "write reducearg<argument"},
      {inner("mapreduce (int i = 0 : 4) { Count(A, reducearg(y, Plus)); }"), "sequoia-syntax",
       "write it as reducearg<"},
      {inner("mapreduce (int i = 0 : 4) { Count(A, reducearg<y, +>); }"), "sequoia-syntax", "a combiner is a task"},
      {leaf("for i in 0:N\n  y = 1;"), "sequoia-syntax", "for (long i = 0; i < N; i++)"},
      {leaf("for (long k : N) y = 1;"), "sequoia-syntax", "for (long k = 0; k < N; k++)"},
      {"typedef struct { float re; } complex;\nvoid task G(in struct complex a[N]);\n"
       "void task<leaf> G::L(in struct complex a[N]) { }",
       "sequoia-incomplete-type", "write 'complex'"},
      {"void task G(inout float a[N]);\nvoid task<leaf> G::L(inout float a[N]) { a[0] = half(1) + half(2); }\n"
       "inline float half(float a) { return a / 2; }",
       "sequoia-function-order", "defined here"},
      {inner("mapreduce (int i = 0 : 4) { Count(A, reducearg<y, max>); }"), "sequoia-combiner-unknown",
       "'max' is a function"},
      {inner("parfor (int i = 0 : 4) { Scale(x, B[i;1]); }"), "sequoia-syntax", "'mappar', or 'mapseq'"},
      {inner("forall (i = 0 : 4) { Scale(x, B[i;1]); }"), "sequoia-syntax", "'mappar', or 'mapseq'"},
      {inner("parallel (int i = 0; i < 4; i++) { Scale(x, B[i;1]); }"), "sequoia-syntax", "loops are 'for'"},
      {"void task G(in int n, in float a[n], out float b[n]);\n"
       "void task<leaf> G::L(in int n, in float a[n], out float b[n]) { for (long i = 0; i < n; i++) b[i] = a[i]; }",
       "sequoia-size-expression", "leave 'n' out of the list"},
      {"void task G(in int n, in float a[n]);\nvoid task<leaf> G::L(in int n, in float a[N]) {}",
       "sequoia-size-expression", "leave 'n' out of the list"},
  };
  for (const auto& each : cases) {
    Session session(each.program);
    EXPECT_EQ(session.codes(), each.code) << each.program << session.rendered();
    EXPECT_NE(session.rendered().find(each.help), std::string::npos) << each.program << session.rendered();
  }
  // What is called is a variant: of a task of this program, so that its name is no other one's misspelling.
  Session variant("void task Scale(inout int a[N]);\n"
                  "void task<inner> Scale::Cut(inout int a[N]) { mappar (int i = 0 : 4) { Multiply(a[i;1]); } }\n"
                  "void task<leaf> Scale::Multiply(inout int a[N]) { a[0] = 1; }");
  EXPECT_EQ(variant.codes(), "sequoia-unknown-task") << variant.rendered();
  EXPECT_NE(variant.rendered().find("call the task, 'Scale'"), std::string::npos) << variant.rendered();
  // What nearly is such a mistake: a question mark's colon, and statements in braces behind a call.
  EXPECT_EQ(Session(inner("mappar (int i = 0 : x > 2 ? 4 : 3) { Scale(x, B[i;1]); } { Scale(x, B); }")).codes(), "");
}

TEST(SequoiaBlocks, AreChecked) {
  Rule rules[] = {
      {"sequoia-needs-block", inner("Copy(x, B);"), ""},
      {"sequoia-needs-block", inner("struct S { float v[4]; }; struct S s; Copy(s.v, B);"), ""},
      {"sequoia-block-rank", inner("float m[4][4]; copy(m[0:1;], m[1:2;][0:1;]);"),
       inner("float m[4][4]; copy(m[0:1;][0:1;], m[1:2;][0:1;]);")},
      {"sequoia-mixed-block", inner("float m[4][4]; Two(m[0:1;][2], m[1:2;][2:3;]);"), ""},
      {"sequoia-block-max", inner("Copy(A[0:2;x], B[0:2;]);"), inner("tunable t; Copy(A[0:2;t + N], B[0:2;]);")},
      {"sequoia-block-range", inner("Copy(A[-1:2;], B[0:3;]);"), inner("Copy(A[0:3;], B[0:3;]);")},
      {"sequoia-block-range", inner("Copy(A[0:4:0;], B[0:4;]);"), inner("Copy(A[0:4:1;], B[0:4;]);")},
      {"sequoia-block-range", inner("float d[4]; copy(d[0:5;], A[0:5;]);"),
       inner("float d[5]; copy(d[0:5;], A[0:5;]);")},
      {"sequoia-block-count", inner("Copy(A[0:4;3], B[0:4;]);"), inner("Copy(A[0:8:2;4], B[0:4;4]);")},
      {"sequoia-indexed-rank", inner("float m[4][4]; int I[2]; copy(B[0;2], m[I]);"),
       inner("int I[2]; copy(B[0;2], A[I]);")},
      {"sequoia-indexed-nested", inner("int I[2]; copy(B[0;2], A[I[I]]);"),
       inner("int I[4]; copy(B[0;2], A[I[0:2;2]]);")},
      {"sequoia-indexed-type", inner("float I[2]; copy(B[0;2], A[I]);"), ""},
      {"sequoia-copy-type", inner("double d[N]; copy(d, A);"), inner("float d[N]; copy(d, A);")},
      {"sequoia-copy-rank", inner("float m[4][4]; copy(m, A);"), ""},
      {"sequoia-copy-count", inner("copy(B[0:4;], A[0:5;]);"), inner("copy(B[0:8:2;], A[0:4;]);")},
      {"sequoia-block-alias", inner("copy(B[0:4;], B[2:6;]);"), inner("copy(B[0:4;], B[4:8;]);")},
      {"sequoia-block-alias", inner("Add(B, B);"), inner("Add(A, B);")},
      {"sequoia-block-alias", inner("tunable t; Add(B[x;t], B[x;t]);"), inner("tunable t; Add(B[x;t], B[x+t;t]);")},
  };
  for (const Rule& rule : rules)
    testRule(rule);
}

TEST(SequoiaBlocks, AllSixStylesAreKept) {
  Session session(inner("tunable t; mappar (int i = 0 : 1) { Copy(A[0:N:2;t], B[0:N:2;]); }\n"
                        "Copy(A[0:4;t], B[0:4;]); Copy(A[0;t], B[1;]);"));
  ASSERT_TRUE(session.program) << session.rendered();
  std::string text = printAst(*session.program);
  for (const char* part : {"A[0:long : N : 2:long; t]", "B[0:long : N : 2:long;]", "A[0:long : 4:long; t]",
                           "B[0:long : 4:long;]", "A[0:long; t]", "B[1:long;]"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(SequoiaTasks, LoopsAndCallsitesAreCountedInLexicalOrder) {
  Session session(
      inner("mapseq (int i = 0 : 2, int j = 0 : 2) { Scale(x, B); }\n"
            "mapseq (int i = 0 : 2) { mapreduce (int k = 0 : 2) { Count(A, reducearg<y, Plus>); } } Scale(x, B);"));
  ASSERT_TRUE(session.program) << session.rendered();
  const TaskVariant* variant = session.program->findTask("T")->find("I");
  ASSERT_EQ(variant->loops.size(), 4u);
  EXPECT_EQ(variant->loops[2]->lexnum, 1u);
  EXPECT_EQ(variant->loops[1]->parent, variant->loops[0]);
  ASSERT_EQ(variant->callsites.size(), 4u);
  EXPECT_EQ(variant->callsites[3]->lexnum, 1u);
  EXPECT_TRUE(variant->callsites[2]->isCombiner);
}

} // namespace
} // namespace strata::sequoia::testing
