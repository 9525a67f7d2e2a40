// Which stores become one, on functions in LLVM's notation.
#include "compiler/target/host/pair_stores.h"

#include "compiler/target/host/passes_testing.h"

namespace strata::host {
namespace {

/// The program with @f after the pass.
std::string paired(const std::string& body) {
  return after("declare void @g()\ndefine void @f(ptr noalias %p, ptr %q, i64 %i, float %x, float %y) {\n"
               "  %at = getelementptr inbounds { float, float }, ptr %p, i64 %i\n"
               "  %next = getelementptr inbounds { float, float }, ptr %p, i64 %i, i32 1\n" +
                   body + "  ret void\n}\n",
               nullptr, [](llvm::PassBuilder&, llvm::ModulePassManager& passes) {
                 passes.addPass(llvm::createModuleToFunctionPassAdaptor(PairStoresPass()));
               });
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
