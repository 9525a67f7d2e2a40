// What the scan before the parser finds, and what it must not mind.
#include "compiler/ir/check_text.h"

#include "compiler/ir/svm.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

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
  EXPECT_EQ(firstUndefined("scf.for %i = %lo to %hi { %hi = x }\n%lo = x"), "%hi");
  EXPECT_EQ(firstUndefined(
                "%lo = arith.constant 0 : index\nscf.for %i = %lo to %n step %lo { %n = arith.constant 1 : index }"),
            "%n");
  EXPECT_EQ(firstUndefined("scf.if %c { %c = arith.constant true }"), "%c");
  EXPECT_EQ(firstUndefined("svm.parallel (%i) = (%a) to (%b) { %a = x }"), "%a");
  EXPECT_EQ(firstUndefined("func.func @f(%a: i32) { %b = scf.if %c -> i32 { %c = x } }"), "%c");
}

TEST(CheckText, ForgetsValuesWhereTheirScopeEnds) {
  EXPECT_EQ(firstUndefined("{ %a = x } scf.if %a { %a = x }"), "%a");
  EXPECT_EQ(firstUndefined("func.func @f(%a: i32) {} func.func @g(%b: i32) { scf.if %a { %a = x } }"), "%a");
  // A name of another function is another value.
  EXPECT_EQ(firstUndefined("func.func @f(%b: i32) { scf.if %a {} } func.func @g(%a: i32) { x %a }"), "");
}

TEST(CheckText, LeavesToTheParserWhatIsDefinedNowhere) {
  const std::string header = "func.func @f(%a: index, %t: i1) {\n";
  const std::string behind = " do {\n^bb0(%y: index):\nscf.yield %y : index\n}";
  for (const std::string& statement : std::initializer_list<std::string>{
           "scf.for %i = %a to %no step %a {\n}", "scf.if %no {\n}", "%b = arith.addi %a, %no : index",
           "scf.if %t {\n%no = arith.constant 0 : index\n}\n%b = arith.addi %a, %no : index",
           "svm.parallel (%i) = (%no) to (%a) {\n}",
           "scf.while (%x = %no) : (index) -> index {\nscf.condition(%t) %x : index\n}" + behind}) {
    const std::string text = header + statement + "\nreturn\n}\n";
    EXPECT_FALSE(checkText(text)) << text;
    mlir::DialectRegistry registry;
    registerDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    context.loadAllAvailableDialects();
    std::string said;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) { said += diagnostic.str(); });
    EXPECT_FALSE(mlir::parseSourceString<mlir::ModuleOp>(text, &context)) << text;
    EXPECT_NE(said.find("undeclared SSA value"), std::string::npos) << text << said;
  }
}

TEST(CheckText, AcceptsEveryWayToDefine) {
  for (const char* text :
       {"%a, %b:2 = x\ny %a, %b#1", "func.func @f(%a: i32 {svm.name = \"%z\"}, %b: i32) { x %a, %b }",
        "(%i, %j) = (y) { x %i, %j }", "svm.parallel \"i\" (%i loc(\"p.sq\":7:3)) = (0) to (1) { x %i }",
        "^bb0(%a: i32, %b: i32): x %a, %b", "%z = x\nscf.while (%a = %z) : (i32) -> i32 { y %a }",
        "%p = x\nsvm.parallel (%i) = (0) to (1) reduce(%q = %p : memref<f32> with #c) { x %q }",
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
