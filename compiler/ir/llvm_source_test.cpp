// The LLVM IR that programs bring along: that it is read, what it defines, and the functions and kernels whose bodies
// it has.
#include "compiler/ir/verify_logical_testing.h"

using namespace strata;
using svm::expectProblem;
using svm::problem;

namespace {

const std::string source = R"(svm.llvm_source @c "define i32 @twice(i32 %x) { ret i32 %x }")";

TEST(DeclaredFunctions, AreDefinedInAnLlvmSource) {
  std::string call = R"(
    func.func private @twice(i32) -> i32
    svm.kernel @k(%x: i32) {
      %y = func.call @twice(%x) : (i32) -> i32
      svm.return
    })";
  EXPECT_EQ(problem(source + call), "");
  expectProblem(call, "has no body; what a program calls is part of it, or in an LLVM source of it");
}

TEST(LlvmSources, AreLlvmIr) {
  const auto of = [](const std::string& text) { return "svm.llvm_source @c \"" + text + "\""; };
  EXPECT_EQ(problem(of("")), "");
  EXPECT_EQ(problem(of("; [[[\\0Adefine void @\\22[\\22() { ret void }")), "");
  expectProblem(of("define nonsense"), "does not read as LLVM IR: line 1, column 8: expected type");
  expectProblem(of("define void @f() {\\0A ret i32 1\\0A}"),
                "line 2, column 6: value doesn't match function result type");
  expectProblem(of("BC\\C0\\DE"), "does not read as LLVM IR"); // as bitcode begins
  expectProblem(of("define i32 @f() {\\0A %a = add i32 %b, 1\\0A %b = add i32 %a, 1\\0A ret i32 %b\\0A}"),
                "Instruction does not dominate all uses!");
  for (const char* bracket : {"{", "[1 x ", "<{"})
    for (const unsigned deep : {8U, 100000U}) {
      std::string type;
      for (unsigned level = 0; level < deep; ++level)
        type += bracket;
      expectProblem(of("@x = global " + type), deep > 8 ? "nested more than" : "expected type");
    }
}

TEST(LlvmSources, DefineWhatNobodyElseDefines) {
  EXPECT_EQ(problem(source + "svm.kernel private @twice(%x: i32) attributes {llvm = @c::@twice}"), "");
  EXPECT_EQ(problem(source + "svm.llvm_source @d \"define internal i32 @twice(i32 %x) { ret i32 %x }\""), "");
  expectProblem(source + "svm.llvm_source @d \"define i32 @twice(i32 %x) { ret i32 %x }\"",
                "defines 'twice', which the program defines elsewhere as well");
  expectProblem(source + "func.func @twice() { return }",
                "defines 'twice', which the program defines elsewhere as well");
}

TEST(LlvmSources, HaveTheBodiesOfKernels) {
  const auto kernel = [](const std::string& body) {
    return source + "svm.kernel private @k(%x: i32) attributes {llvm = " + body + "}";
  };
  EXPECT_EQ(problem(kernel("@c::@twice")), "");
  expectProblem(kernel("@c"), "it is named by its source and itself: @source::@function");
  expectProblem(kernel("@c::@twice::@x"), "it is named by its source and itself");
  expectProblem(kernel("@d::@twice"), "is no 'svm.llvm_source' of this program");
  expectProblem(kernel("@c::@absent"), "that source defines no such function");
}

TEST(DeclaredFunctions, ArePrivateAndTakeScalars) {
  expectProblem(source + "func.func private @twice(!plain)", "takes or gives other than C's scalars");
  expectProblem(source + "func.func private @twice(i32) -> (i32, i32)", "takes or gives other than C's scalars");
  expectProblem(source + "func.func private @twice(i32) -> i32 attributes {svm.entry}",
                "is declared and seen from outside");
}

} // namespace
