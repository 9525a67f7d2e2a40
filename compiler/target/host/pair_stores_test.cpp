// Which stores become one, on functions in LLVM's notation.
#include "compiler/target/host/pair_stores.h"

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

/// The body of @f after the pass.
std::string paired(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  const std::string text = "declare void @g()\ndefine void @f(ptr noalias %p, ptr %q, i64 %i, float %x, float %y) {\n"
                           "  %at = getelementptr inbounds { float, float }, ptr %p, i64 %i\n"
                           "  %next = getelementptr inbounds { float, float }, ptr %p, i64 %i, i32 1\n" +
                           body + "  ret void\n}\n";
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, wrong, context);
  if (!module)
    return wrong.getMessage().str();
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::Function& function = *module->getFunction("f");
  PairStoresPass().run(function, functions);
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  EXPECT_FALSE(llvm::verifyFunction(function, &stream));
  stream << function;
  return printed;
}

bool areOne(const std::string& body) {
  const std::string result = paired(body);
  return result.find("store <2 x float>") != std::string::npos && result.find("store float") == std::string::npos;
}

TEST(PairStores, NeighboursBecomeOneInEitherOrder) {
  EXPECT_TRUE(areOne("  store float %x, ptr %at\n  store float %y, ptr %next\n"));
  EXPECT_TRUE(areOne("  store float %x, ptr %next\n  store float %y, ptr %at\n"));
  const std::string result = paired("  store float %x, ptr %next\n  store float %y, ptr %at\n");
  EXPECT_NE(result.find("insertelement <2 x float> poison, float %y, i64 0"), std::string::npos) << result;
  EXPECT_NE(result.find(", ptr %at, align 4"), std::string::npos) << result;
}

TEST(PairStores, WhatLiesBetweenMayReadAnotherPlace) {
  EXPECT_TRUE(areOne("  store float %x, ptr %at\n  %z = load float, ptr %q\n  store float %z, ptr %next\n"));
  EXPECT_FALSE(areOne("  store float %x, ptr %at\n  %z = load float, ptr %at\n  store float %z, ptr %next\n"));
  EXPECT_FALSE(areOne("  store float %x, ptr %at\n  store i32 0, ptr %at\n  store float %y, ptr %next\n"));
}

TEST(PairStores, NothingMovesPastACallThatMayNotReturn) {
  EXPECT_FALSE(areOne("  store float %x, ptr %at\n  call void @g()\n  store float %y, ptr %next\n"));
}

TEST(PairStores, VolatileAndDistantStoresStay) {
  EXPECT_FALSE(areOne("  store volatile float %x, ptr %at\n  store float %y, ptr %next\n"));
  EXPECT_FALSE(areOne("  store float %x, ptr %at\n  store float %y, ptr %q\n"));
  EXPECT_FALSE(areOne("  store float %x, ptr %at\n  store float %y, ptr %at\n"));
}

} // namespace
} // namespace strata::host
