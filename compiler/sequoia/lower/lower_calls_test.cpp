// Task calls, blocks and iterations of lowered programs, executed; the rules that are checked when a program runs, each
// broken once; and the mapping record.
#include "compiler/mapping/place.h"
#include "compiler/sequoia/lower/lower_testing.h"

namespace strata::sequoia::testing {
namespace {

/// A program of leaf tasks and one inner task T, with a mapping that puts all at level 0 of this computer.
struct InnerProgram : LoweredProgram {
  InnerProgram(const std::string& statements, const std::string& control, const std::string& before = "")
      : LoweredProgram(inner(statements, before),
                       "#include \"host\"\ntask T : entrypoint(Top) { instance Top::I(level 0) { " + control +
                           " } }\n" + instances(control)) {}
  static std::string instances(const std::string& control) {
    std::string text;
    for (const char* task : {"Copy", "Two", "Scale", "Count", "Plus", "Add"})
      if (control.find("target " + std::string(task) + "_()") != std::string::npos)
        text += "task " + std::string(task) + " { instance " + task + "_::L(level 0) { } }\n";
    return text;
  }
  std::vector<float> a{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, b = std::vector<float>(10, 0.5f);
  int y = 7;
  bool call(int x) { return LoweredProgram::run({array(a), array(b), number(x), reference(y)}); }
  std::string failing(int x) {
    EXPECT_FALSE(call(x)) << text();
    return failure;
  }
};

std::string calls(const std::string& task, int count = 1) {
  std::string text = "control(level 0) { ";
  for (int i = 0; i < count; ++i)
    text += "callsite " + task + "[" + std::to_string(i) + "]() { target " + task + "_() { } } ";
  return text + "}";
}

/// The advice of the first check of a rule.
std::string helpOf(LoweredProgram& subject, llvm::StringRef code) {
  std::string help;
  subject.lowered->module->walk([&](svm::CheckOp check) {
    if (help.empty() && check.getCode() == code)
      help = check.getHelp().value_or("").str();
  });
  return help;
}

TEST(SequoiaLowerCalls, BlockStyles) {
  InnerProgram subject(
      "Copy(A[x:x+3;], B[0;3]); Copy(A[0:9:4;], B[3:6;3]); Copy(A[8;5], B[6;2]); Copy(A[9:2;], B[4:4;]);",
      calls("Copy", 4));
  ASSERT_TRUE(subject.call(1)) << subject.rendered() << subject.text();
  EXPECT_EQ(subject.b, (std::vector<float>{2, 3, 4, 1, 5, 9, 9, 10, 0.5, 0.5}));
}

TEST(SequoiaLowerCalls, MaxThatIsHuge) {
  InnerProgram subject("Copy(A[x;9223372036854775807], B[x;9223372036854775806]);", calls("Copy"));
  ASSERT_TRUE(subject.call(8)) << subject.rendered() << subject.text();
  EXPECT_EQ(subject.b[7], 0.5f);
  EXPECT_EQ(subject.b[8], 9);
  EXPECT_EQ(subject.b[9], 10);
}

TEST(SequoiaLowerCalls, StridesAndMatrices) {
  const std::string program =
      "void task S(in float A[M][N], out float B[P][Q]); void task Two(in float S[M][N], out float D[M][N]);\n"
      "void task<leaf> Two::L(in float S[M][N], out float D[M][N]) { for (long i = 0; i < M; i++) for (long j = 0; j < "
      "N; j++) D[i][j] = S[i][j]; }\n"
      "void task<inner> S::I(in float A[M][N], out float B[P][Q]) { Two(A[1:M:2;][0:N:3;], B); }\n";
  LoweredProgram subject(program, "#include \"host\"\ntask S : entrypoint(Top) { instance Top::I(level 0) { " +
                                      calls("Two") + " } }\ntask Two { instance Two_::L(level 0) { } }");
  std::vector<float> a(5 * 7), b(2 * 3);
  std::iota(a.begin(), a.end(), 0.0f);
  ASSERT_TRUE(subject.run({matrix(a, 5), matrix(b, 2)})) << subject.rendered() << subject.text();
  EXPECT_EQ(b, (std::vector<float>{7, 10, 13, 21, 24, 27}));
}

TEST(SequoiaLowerCalls, BlocksThatBreakTheirRules) {
  EXPECT_EQ(InnerProgram("Scale(2, B[x:5;]);", calls("Scale")).failing(-1), "sequoia-block-range");
  EXPECT_EQ(InnerProgram("Scale(2, B[5:x;]);", calls("Scale")).failing(11), "sequoia-block-range");
  EXPECT_EQ(InnerProgram("Scale(2, B[1:5:x;]);", calls("Scale")).failing(0), "sequoia-block-range");
  EXPECT_EQ(InnerProgram("Scale(2, B[0:x;4]);", calls("Scale")).failing(5), "sequoia-block-count");
  EXPECT_EQ(InnerProgram("Add(A[0:x;], B[0:5;]);", calls("Add")).failing(4), "sequoia-size-mismatch");
  EXPECT_EQ(InnerProgram("float L[N - 12]; Scale(x, B);", calls("Scale")).failing(4), "sequoia-array-size-negative");
  InnerProgram reported("Scale(2, B[5:x;]);", calls("Scale"));
  reported.failing(11);
  EXPECT_NE(reported.rendered().find("block of 'B', dimension 0: the end 11 lies beyond the array's 10 elements"),
            std::string::npos)
      << reported.rendered();
  EXPECT_TRUE(InnerProgram("if (x > 5) Scale(2, B[x:5;]); else Scale(2, B[5:5;]); ", calls("Scale", 2)).call(5) ==
              false);
}

TEST(SequoiaLowerCalls, ScalarsComeBack) {
  InnerProgram subject("int n = 3; Count(A, n); Count(A[0:x;], y); y = y * 100 + n; y += A[2];", calls("Count", 2));
  ASSERT_TRUE(subject.call(4)) << subject.rendered();
  EXPECT_EQ(subject.y, 1100 + 13 + 3);
}

TEST(SequoiaLowerCalls, ControlAroundCalls) {
  InnerProgram subject(
      "int n = 0; while (1) { if (n == x) break; n++; if (n == 2) continue; Scale(n + 1, B[n;1]); } "
      "for (int i = 7; i < N; i++) Scale(i, B[i;1]); mapseq (int j = 0 : x) { Count(A[j:N;], y); }",
      "control(level 0) { callsite Scale[0]() { target Scale_() { } } callsite Scale[1]() { target Scale_() { } } "
      "callsite Count() { target Count_() { } } }");
  ASSERT_TRUE(subject.call(4)) << subject.rendered() << subject.text();
  EXPECT_EQ(subject.b, (std::vector<float>{0.5, 1, 0.5, 2, 2.5, 0.5, 0.5, 3.5, 4, 4.5}));
  EXPECT_EQ(subject.y, 7 + 10 + 9 + 8 + 7);
}

TEST(SequoiaLowerCalls, LocalArraysAndCopies) {
  InnerProgram subject("float L[2*N]; copy(L[0;10], A); copy(L[10:20:3;], B[x:x+4;]); copy(B[0:10:3;], L[x:3;]);", "");
  EXPECT_EQ(subject.failing(0), "sequoia-copy-count");
  InnerProgram good("float L[2*N]; copy(L[0;10], A); copy(L[10;], B); copy(B[0:10:3;], L[6:14:2;]);", "");
  ASSERT_TRUE(good.call(0)) << good.rendered() << good.text();
  EXPECT_EQ(good.b, (std::vector<float>{7, 0.5, 0.5, 9, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}));
}

TEST(SequoiaLowerCalls, IndexedBlocks) {
  const std::string program =
      "void task T(in float A[N], inout float B[N], in int I[M]); void task Copy(in float S[N], out float D[N]);\n"
      "void task<leaf> Copy::L(in float S[N], out float D[N]) { for (long i = 0; i < N; i++) D[i] = S[i] * 10; }\n"
      "void task<inner> T::I(in float A[N], inout float B[N], in int I[M]) { Copy(A[I], B[I[0:M;]]); copy(B[0;2], "
      "A[I[1:3;]]); }\n";
  LoweredProgram subject(program, "#include \"host\"\ntask T : entrypoint(Top) { instance Top::I(level 0) { " +
                                      calls("Copy") + " } }\ntask Copy { instance Copy_::L(level 0) { } }");
  std::vector<float> a{1, 2, 3, 4, 5}, b(5, 0.0f);
  std::vector<int> indices{4, 2, 3};
  ASSERT_TRUE(subject.run({array(a), array(b), array(indices)})) << subject.rendered() << subject.text();
  EXPECT_EQ(b, (std::vector<float>{3, 4, 30, 40, 50}));
  indices[1] = 5;
  EXPECT_FALSE(subject.run({array(a), array(b), array(indices)}));
  EXPECT_EQ(subject.failure, "index-out-of-range");
}

TEST(SequoiaLowerCalls, TargetsWithConditions) {
  const std::string program =
      "#include \"host\"\ntask T : entrypoint(Top) { instance Top::I(level 0) { control(level 0) { callsite Scale() { "
      "target Few() { B.elements <= 4; } target Many() { B.elements >= 9; } } } } }\n"
      "task Scale { instance Few::L(level 0) { } instance Many::L(level 0) { } }\n";
  LoweredProgram subject(inner("Scale(3, B);"), program);
  std::vector<float> a(10, 1.0f), b(10, 1.0f);
  int y = 0;
  ASSERT_TRUE(subject.run({array(a), array(b), number(0), reference(y)})) << subject.rendered();
  a.resize(3);
  b.resize(3);
  ASSERT_TRUE(subject.run({array(a), array(b), number(0), reference(y)})) << subject.rendered();
  EXPECT_EQ(b[0], 9);
  a.resize(7);
  b.resize(7);
  EXPECT_FALSE(subject.run({array(a), array(b), number(0), reference(y)}));
  EXPECT_EQ(subject.failure, "sequoia-no-target");
  EXPECT_EQ(helpOf(subject, "sequoia-no-target"), "give the callsite a last target without conditions: test.map:2");
}

TEST(SequoiaLowerCalls, ATunableThatIsNoDivisorIsNamed) {
  const std::string program = "void task T(in float A[N], out int y);\n"
                              "void task<inner> T::I(in float A[N], out int y) { tunable b; y = N / (2 * b); }\n";
  LoweredProgram subject(program, "#include \"host\"\ntask T : entrypoint(Top) { instance Top::I(level 0) {\n"
                                  "tunable b = 0; control() { } } }\n");
  std::vector<float> a(10, 1.0f);
  int y = 0;
  EXPECT_FALSE(subject.run({array(a), reference(y)}));
  EXPECT_EQ(subject.failure, "division-by-zero");
  EXPECT_EQ(helpOf(subject, "division-by-zero"), "tunable 'b' is 0 at test.map:3");
}

std::string halved(const std::string& statements) {
  return "void task T(inout int x[N]);\n"
         "void task<leaf> T::L(inout int x[N]) { for (long i = 0; i < N; i++) x[i] += 1; }\n"
         "void task<inner> T::I(inout int x[N]) { tunable t; " +
         statements + " }\n";
}

/// Without sizes, the instance settles what divides them when it begins.
TEST(SequoiaLowerCalls, ATunableThatDividesIsSettledByEachCall) {
  LoweredProgram subject(halved("mappar (long i = 0 : N / t) { T(x[i * t; t]); }"), "", "smp-2level");
  for (int64_t size : {0, 1, 2, 7, 1000, 1009, 4096, 5000}) {
    std::vector<int> x(static_cast<size_t>(size), 1);
    EXPECT_TRUE(subject.run({array(x)})) << size << subject.rendered();
    EXPECT_EQ(std::count(x.begin(), x.end(), 2), size);
  }
}

TEST(SequoiaLowerCalls, ATunableWhoseSquareDividesIsSettledByEachCall) {
  LoweredProgram subject(halved("mappar (long i = 0 : N / (t * t)) { T(x[i * t * t; t * t]); }"), "", "smp-2level");
  for (int64_t size : {0, 1, 4, 7, 36, 1009, 4096, 5000, 10000}) {
    std::vector<int> x(static_cast<size_t>(size), 1);
    EXPECT_TRUE(subject.run({array(x)})) << size << subject.rendered();
    EXPECT_EQ(std::count(x.begin(), x.end(), 2), size);
  }
}

TEST(SequoiaLowerCalls, ALoopThatEndsAtASizeIsSettledByEachCall) {
  LoweredProgram subject(halved("for (long i = 0; i != N; i += t) T(x[i; t]);"), "", "smp-2level");
  for (int64_t size : {0, 1, 2, 7, 1000, 1009, 4096, 5000}) {
    std::vector<int> x(static_cast<size_t>(size), 1);
    EXPECT_TRUE(subject.run({array(x)})) << size << subject.rendered();
    EXPECT_EQ(std::count(x.begin(), x.end(), 2), size);
  }
}

TEST(SequoiaLowerCalls, ALoopThatBreaksNeedNotMeetItsEnd) {
  LoweredProgram subject(
      halved("for (long i = 0; i != N; i += 2 * t) { T(x[i : min(i + 2 * t, N);]); if (i + 2 * t >= N) break; }"));
  for (int64_t size : {1, 12, 13}) {
    std::vector<int> x(static_cast<size_t>(size), 1);
    EXPECT_TRUE(subject.run({array(x)})) << size << subject.rendered();
    EXPECT_EQ(std::count(x.begin(), x.end(), 2), size);
  }
}

TEST(SequoiaLowerCalls, WhatCannotBeSettledIsRefused) {
  LoweredProgram past(halved("for (long i = 0; i != N; i += 2 * t) T(x[i; 2 * t]);"));
  std::vector<int> odd(13, 1);
  EXPECT_FALSE(past.run({array(odd)}));
  EXPECT_EQ(past.failure, "sequoia-inexact-division");
  LoweredProgram subject(halved("mappar (long i = 0 : N / (2 * t)) { T(x[i * 2 * t; 2 * t]); }"));
  std::vector<int> x(12, 1);
  EXPECT_TRUE(subject.run({array(x)})) << subject.rendered();
  EXPECT_EQ(std::count(x.begin(), x.end(), 2), 12);
  x.resize(13);
  EXPECT_FALSE(subject.run({array(x)}));
  EXPECT_EQ(subject.failure, "sequoia-inexact-division");
}

TEST(SequoiaLowerCalls, Preconditions) {
  LoweredProgram subject(
      inner("Scale(3, B);"),
      "#include \"host\"\ntask T : entrypoint(Top) { instance Top::I(level 0) { "
      "data(level 0) { array A() { elements <= 8; } } " +
          calls("Scale") +
          " } }\ntask Scale { instance Scale_::L(level 0) { data(level 0) { array D() { elements >= 3; } } } }");
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  int y = 0;
  for (auto [size, code] : {std::pair(10, "sequoia-precondition"), {2, "sequoia-precondition"}, {7, ""}}) {
    std::vector<float> a(size), b(size);
    EXPECT_EQ(subject.run({array(a), array(b), number(0), reference(y)}), std::string(code).empty()) << size;
    EXPECT_EQ(subject.failure, code) << size;
  }
}

TEST(SequoiaLowerCalls, PlacedOnItsMachine) {
  for (const char* name : {"vectadd", "matmul", "conv2d", "histogram", "sum"}) {
    for (const char* machineName : {"host", "cell"}) {
      SCOPED_TRACE(std::string(name) + " on " + machineName);
      LoweredProgram subject(exampleText(name), "", machineName);
      ASSERT_TRUE(subject.lowered) << subject.rendered();
      Machine target = subject.machine(machineName);
      EXPECT_TRUE(mapping::place(*subject.lowered->module, subject.lowered->record, target, subject.diagnostics))
          << subject.rendered();
      EXPECT_TRUE(mapping::verifyPlaced(*subject.lowered->module, target, subject.diagnostics))
          << subject.rendered() << subject.text();
    }
  }
}

TEST(SequoiaLowerCalls, ReductionsOfScalarsAndByInnerCombiners) {
  InnerProgram scalar("mapreduce (int i = 0 : x) { Count(A[i:N;], reducearg<y, Plus>); }",
                      "control(level 0) { loop i() { spmd { ways = 3; } } callsite Count() { target Count_() { } } "
                      "callsite Plus() { target Plus_() { } } }");
  ASSERT_TRUE(scalar.call(3)) << scalar.rendered() << scalar.text();
  EXPECT_EQ(scalar.y, 7 + 10 + 9 + 8);
  EXPECT_NE(scalar.text().find("#svm.combiner<@Plus_.combine, \"Plus#0\">"), std::string::npos) << scalar.text();

  InnerProgram block("mapreduce (int i = 0 : 5) { Add(A[2*i;2], reducearg<B[x;2], Add>); }",
                     "control(level 0) { loop i() { spmd { ways = 2; } } callsite Add[0]() { target Add_() { } } "
                     "callsite Add[1]() { target Add_() { } } }");
  ASSERT_TRUE(block.call(8)) << block.rendered() << block.text();
  EXPECT_EQ(block.b[8], 25.5f);
  EXPECT_EQ(block.b[9], 30.5f);
}

TEST(SequoiaLowerCalls, ReductionsOfBlocksWithStrides) {
  InnerProgram subject("mapreduce (int i = 0 : 5) { Add(A[2*i;2], reducearg<B[1:4:2;], Add>); }",
                       "control(level 0) { loop i() { spmd { ways = 2; } } callsite Add[0]() { target Add_() { } } "
                       "callsite Add[1]() { target Add_() { } } }");
  ASSERT_TRUE(subject.call(0)) << subject.rendered() << subject.text();
  EXPECT_EQ(std::vector<float>(subject.b.begin(), subject.b.begin() + 5),
            (std::vector<float>{0.5f, 25.5f, 0.5f, 30.5f, 0.5f}));
}

TEST(SequoiaLowerCalls, CombinersHaveOneTarget) {
  LoweredProgram subject(inner("mapreduce (int i = 0 : 5) { Add(A[2*i;2], reducearg<B[0;2], Add>); }"),
                         "#include \"host\"\ntask T : entrypoint(Top) { instance Top::I(level 0) { control(level 0) { "
                         "loop i() { } callsite Add[0]() { target Add_() { } } callsite Add[1]() { "
                         "target Add_() { B.elements <= 4; } target Other() { } } } } }\n"
                         "task Add { instance Add_::L(level 0) { } instance Other::L(level 0) { } }\n");
  EXPECT_FALSE(subject.lowered);
  EXPECT_EQ(subject.codes(), "sequoia-combiner-conditions") << subject.rendered();
  EXPECT_NE(subject.rendered().find("the combining task"), std::string::npos) << subject.rendered();
}

TEST(SequoiaLowerCalls, RecordOfTheMapping) {
  LoweredProgram subject(exampleText("vectadd"), R"(
#include "cell"
task AddVectors : entrypoint(Top) {
  instance Top::Split(level 2) { tunable block = 1024;
    control(level 2) { loop i(level 0) { spmd { fullrange = 0,8; ways = 8; iterblk = 2; } } callsite AddVectors() { target Low() { } } } }
  instance Low::Add(level 0) { }
}
)",
                         "cell");
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  const mapping::FunctionPlacement& top = subject.lowered->record.functions.at("Top");
  EXPECT_EQ(top.control, "ppe");
  EXPECT_EQ(top.arguments, (std::vector<std::string>{"main", "main", "main"}));
  EXPECT_EQ(top.blocks.at("AddVectors#0.A"), "ls");
  mapping::LoopPlacement dealt;
  dealt.processor = "spe";
  dealt.parts = {8};
  dealt.chunk = {2};
  dealt.place = {"test.map", 5, 29};
  EXPECT_EQ(top.loops.at("i"), dealt);
  EXPECT_EQ(top.calls.at("AddVectors#0"), (mapping::CallPlacement{"spe", ""}));
  EXPECT_NE(subject.text().find("max [1024]"), std::string::npos) << subject.text();
  EXPECT_NE(subject.text().find("svm.sized_by = [#svm.tunable<\"block\" of \"Top\">]"), std::string::npos)
      << subject.text();
}

TEST(SequoiaLowerCalls, ExternalTasks) {
  const std::string program = "void task T(in float A[N], inout float B[2*N], in int k, out int n);\n"
                              "void task<ext> T::E(in float A[N], inout float B[2*N], in int k, out int n);\n";
  LoweredProgram subject(
      program,
      "#include \"host\"\ntask T : entrypoint(Outside) { instance Outside::E(level 0) : external(\"t.c\") { } }");
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  ASSERT_EQ(subject.lowered->externals.size(), 1u);
  EXPECT_EQ(subject.lowered->externals[0].instance, "Outside");
  EXPECT_EQ(subject.lowered->externals[0].file, "t.c");
  EXPECT_NE(subject.text().find("llvm = @source::@strata.ext.Outside"), std::string::npos) << subject.text();
}

TEST(SequoiaLowerCalls, LocalArraysOfLeavesComeFromTheCaller) {
  LoweredProgram subject("void task T(in float A[N], out float B[N]);\n"
                         "void task<leaf> T::L(in float A[N], out float B[N]) { float t[N/2 + 1]; long h = N / 2; for "
                         "(long i = 0; i < h; i++) t[i] = A[2 * i]; "
                         "for (long i = 0; i < N; i++) B[i] = i < h ? t[i] : 0; }\n");
  std::vector<float> a{1, 2, 3, 4, 5}, b(5);
  ASSERT_TRUE(subject.run({array(a), array(b)})) << subject.rendered() << subject.text();
  EXPECT_EQ(b, (std::vector<float>{1, 3, 0, 0, 0}));
}

TEST(SequoiaLowerCalls, MembersOfUnionsShareTheirBytes) {
  const std::string type = "union both { float f; int i; unsigned char b[4]; struct { short low, high; } h; };\n";
  EXPECT_EQ(evaluate<int>("int", "union both u; u.f = 1.0f; r = u.i;", 0, 0, 0, 0, type), 0x3f800000);
  EXPECT_EQ(evaluate<int>("int", "union both u; u.i = 0x01020304; r = u.b[a] + 256 * u.h.high;", 2, 0, 0, 0, type),
            2 + 256 * 0x0102);
  EXPECT_EQ(evaluate<float>("float", "union both u, v; u.i = 0; u.b[b + 1] = 0x40; u.h.low = 0; v = u; r = v.f;", 0, 2,
                            0, 0, type),
            2.0f);
}

TEST(SequoiaLowerCalls, StructsOfManyNumbersStayInMemory) {
  const std::string type =
      "typedef struct { char tag; double d; int of[1000]; struct { short s[70]; } part; } many;\n"
      "inline int sum(many m) { int s = 0; for (int i = 0; i < 1000; i++) s += m.of[i]; m.tag = 1; return s; }\n"
      "inline many next(many m) { if (m.tag) m.of[7] += 1; else m.tag = 5; return m; }\n";
  EXPECT_EQ(evaluate<int>("int",
                          "many m, n; m.tag = 3; for (int i = 0; i < 1000; i++) m.of[i] = i; n = m; n.of[a] = 7; "
                          "m.part.s[b] = -2; n.part = m.part; r = sum(n) + 10000000 * n.tag + n.part.s[b];",
                          999, 69, 0, 0, type),
            499500 - 999 + 7 + 30000000 - 2);
  EXPECT_EQ(evaluate<int>("int", "many m; m = next(next(m)); r = m.tag * 10 + m.of[7] + (a ? m : next(m)).of[7];", 1, 0,
                          0, 0, type),
            52);
}

TEST(SequoiaLowerCalls, InitialValuesInBraces) {
  EXPECT_EQ(evaluate<int>("int", "struct p { int a[2]; float f; }; struct p s = {1, 2, 2.5f}, t[2] = {{{3}, 4}, s}; "
                                 "union { int i; float f; } u = {9}; "
                                 "int m[2][3] = {{1, 2}, 3, 4}; r = s.a[1] + 10 * t[0].a[0] + 100 * (t[0].a[1] + "
                                 "t[1].a[0]) + 1000 * (int)t[1].f + "
                                 "10000 * u.i + 100000 * m[1][1] + m[0][2] + m[1][2];"),
            2 + 30 + 100 + 2000 + 90000 + 400000);
}

TEST(SequoiaLowerCalls, LimitsOfInlining) {
  auto code = [](const std::string& before, const std::string& statements) {
    LoweredProgram subject(before + leaf(statements));
    EXPECT_FALSE(subject.lowered);
    return subject.codes();
  };
  std::string chain = "inline int f0(int n) { return n + 1; }\n";
  for (int i = 1; i < 20; ++i)
    chain += "inline int f" + std::to_string(i) + "(int n) { return f" + std::to_string(i - 1) + "(n) + f" +
             std::to_string(i - 1) + "(n); }\n";
  EXPECT_EQ(code(chain, "y = f19(x);"), "sequoia-inline-limit");
  std::string longChain = "inline int f0(int n) { return n + 1; }\n", terms;
  for (int i = 0; i < 1900; ++i)
    terms += " + n";
  for (int i = 1; i < 60; ++i)
    longChain +=
        "inline int f" + std::to_string(i) + "(int n) { return f" + std::to_string(i - 1) + "(n)" + terms + "; }\n";
  EXPECT_EQ(code(longChain, "y = f59(x);"), "sequoia-inline-depth");
}

} // namespace
} // namespace strata::sequoia::testing
