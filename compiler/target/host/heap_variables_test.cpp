// Which variables stay on the stack, on functions in LLVM's notation.
#include "compiler/target/host/heap_variables.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace strata::host {
namespace {

/// The function @f after the pass.
std::string moved(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  const std::string text = "declare void @g(ptr)\ndeclare i32 @setjmp(ptr) returns_twice\n"
                           "declare void @llvm.lifetime.start.p0(i64, ptr)\ndefine i32 @f(i1 %c, i64 %n) {\n" +
                           body + "}\n";
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, wrong, context);
  if (!module)
    return wrong.getMessage().str();
  llvm::FunctionAnalysisManager functions;
  llvm::Function& function = *module->getFunction("f");
  HeapVariablesPass().run(function, functions);
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  EXPECT_FALSE(llvm::verifyFunction(function, &stream));
  stream << function;
  return printed;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(HeapVariables, SmallOnesStay) {
  const std::string result = moved("  %x = alloca [8192 x i8]\n  call void @g(ptr %x)\n  ret i32 0\n");
  EXPECT_EQ(count(result, "alloca"), 1U);
  EXPECT_EQ(count(result, "strata_acquire"), 0U);
}

TEST(HeapVariables, LargeOnesAreReleasedAtEveryReturn) {
  const std::string result = moved("  %x = alloca [8193 x i8]\n  call void @llvm.lifetime.start.p0(i64 8193, ptr %x)\n"
                                   "  call void @g(ptr %x)\n  br i1 %c, label %a, label %b\n"
                                   "a:\n  ret i32 0\nb:\n  ret i32 1\n");
  EXPECT_EQ(count(result, "alloca"), 0U);
  EXPECT_EQ(count(result, "call ptr @strata_acquire(i64 8193"), 1U);
  EXPECT_EQ(count(result, "@strata_release(ptr %x)"), 2U);
  EXPECT_EQ(count(result, "lifetime"), 0U);
}

TEST(HeapVariables, TheLargestGoUntilTheRestFits) {
  const std::string result =
      moved("  %x = alloca [5000 x i8]\n  %y = alloca [6000 x i8]\n  %z = alloca [3000 x i8]\n"
            "  call void @g(ptr %x)\n  call void @g(ptr %y)\n  call void @g(ptr %z)\n  ret i32 0\n");
  EXPECT_EQ(count(result, "alloca"), 2U);
  EXPECT_EQ(count(result, "@strata_acquire(i64 6000"), 1U);
}

TEST(HeapVariables, AreReleasedInTheOppositeOrder) {
  const std::string result = moved("  %x = alloca [50000 x i8]\n  %y = alloca [60000 x i8]\n"
                                   "  call void @g(ptr %x)\n  call void @g(ptr %y)\n  ret i32 0\n");
  EXPECT_LT(result.find("%x = call ptr @strata_acquire"), result.size());
  const bool isFirst = result.find("%x = call") < result.find("%y = call");
  EXPECT_EQ(result.find("@strata_release(ptr %y)") < result.find("@strata_release(ptr %x)"), isFirst) << result;
}

TEST(HeapVariables, WhatSetjmpComesBackToIsLeftAlone) {
  const std::string result = moved("  %x = alloca [50000 x i8]\n  %r = call i32 @setjmp(ptr %x)\n  ret i32 %r\n");
  EXPECT_EQ(count(result, "alloca"), 1U);
}

} // namespace
} // namespace strata::host
