// What the scan before the parser finds, and what it must not mind.
#include "compiler/ir/check_text.h"

#include <gtest/gtest.h>

using namespace strata::svm;

namespace {

std::string firstUndefined(llvm::StringRef text) {
  auto problem = checkText(text);
  return problem && problem->kind == TextProblem::UsedBeforeDefined ? text.slice(problem->begin, problem->end).str()
                                                                    : "";
}

bool isTooDeep(const std::string& text) {
  auto problem = checkText(text);
  return problem && problem->kind == TextProblem::NestedTooDeeply;
}

TEST(CheckText, FindsValuesThatAreNotDefinedYet) {
  EXPECT_EQ(firstUndefined("scf.for %i = %lo to %hi {"), "%lo");
  EXPECT_EQ(firstUndefined(
                "%lo = arith.constant 0 : index\nscf.for %i = %lo to %n step %lo { %n = arith.constant 1 : index }"),
            "%n");
  EXPECT_EQ(firstUndefined("scf.if %c { %c = arith.constant true }"), "%c");
  EXPECT_EQ(firstUndefined("svm.spmd (%i) = (%a) to (%b) {}"), "%a");
  EXPECT_EQ(firstUndefined("func.func @f(%a: i32) { %b = scf.if %c -> i32 { } }"), "%c");
}

TEST(CheckText, ForgetsValuesWhereTheirScopeEnds) {
  EXPECT_EQ(firstUndefined("{ %a = x } scf.if %a {}"), "%a");
  EXPECT_EQ(firstUndefined("func.func @f(%a: i32) {} func.func @g(%b: i32) { scf.if %a {} }"), "%a");
}

TEST(CheckText, AcceptsEveryWayToDefine) {
  for (const char* text :
       {"%a, %b:2 = x\ny %a, %b#1", "func.func @f(%a: i32 {svm.name = \"%z\"}, %b: i32) { x %a, %b }",
        "(%i, %j) = (y) { x %i, %j }", "svm.spmd \"i\" (%i loc(\"p.sq\":7:3)) = (0) to (1) { x %i }",
        "^bb0(%a: i32, %b: i32): x %a, %b", "%z = x\nscf.while (%a = %z) : (i32) -> i32 { y %a }",
        "%p = x\nsvm.spmd (%i) = (0) to (1) reduce(%q = %p : memref<f32> with #c) { x %q }",
        "// %comment\n\"%string \\\" %more\"", "affine_map<(d0)[s0] -> (d0 - s0)>"})
    EXPECT_FALSE(checkText(text)) << text;
}

TEST(CheckText, FindsWhatTheParserWouldRecurseOn) {
  for (const char* bracket : {"(", "[", "{", "<"}) {
    std::string text;
    for (int depth = 0; depth < 5000; ++depth)
      text += bracket;
    EXPECT_TRUE(isTooDeep(text)) << bracket;
  }
  std::string sum = "affine_map<()[s0] -> (s0", list = "array<i64: 0";
  for (int term = 0; term < 5000; ++term) {
    sum += " + s0";
    list += ", -1";
  }
  EXPECT_TRUE(isTooDeep(sum + ")>"));
  EXPECT_FALSE(checkText(list + ">"));
}

} // namespace
