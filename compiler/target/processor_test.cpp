// Processors by name, what two have in common, and what code for one needs, beside what LLVM asks of this computer.
#include "compiler/target/processor.h"

#include "runtime/core/processor.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <gtest/gtest.h>

namespace strata::target {
namespace {

struct ProcessorTest : testing::Test {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  Processor named(const std::string& name) { return processorOf(name, diagnostics).value_or(Processor()); }
  std::vector<std::string> needs(const Processor& processor) {
    std::vector<std::string> names;
    llvm::SmallVector<llvm::StringRef> parts;
    const std::string all = neededFeatures(processor);
    llvm::StringRef(all).split(parts, ',', -1, false);
    for (llvm::StringRef part : parts)
      names.push_back(part.str());
    return names;
  }
};

TEST_F(ProcessorTest, OtherNamesAreRefused) {
  EXPECT_FALSE(processorOf("abacus", diagnostics));
  EXPECT_FALSE(processorOf("x86-64-v33", diagnostics));
  ASSERT_EQ(diagnostics.errorCount(), 2u);
  EXPECT_STREQ(diagnostics.all()[0].kind->code, "target-unknown-processor");
  EXPECT_EQ(named("").cpu, llvm::sys::getHostCPUName());
  EXPECT_EQ(named("native"), thisProcessor());
}

TEST_F(ProcessorTest, WhatThisComputerHasItNeeds) {
  const auto features = llvm::sys::getHostCPUFeatures();
  const std::vector<std::string> needed = needs(thisProcessor());
  for (const runtime::ProcessorFeature& feature : runtime::processorFeatures()) {
    EXPECT_EQ(runtime::isPresent(feature), features.lookup(feature.name)) << feature.name;
    EXPECT_EQ(llvm::is_contained(needed, std::string(feature.name)), features.lookup(feature.name)) << feature.name;
  }
  EXPECT_TRUE(runtime::lackingFeatures(neededFeatures(thisProcessor())).empty());
}

#if defined(__x86_64__)
TEST_F(ProcessorTest, LevelsNeedWhatTheyAdd) {
  EXPECT_TRUE(needs(named("x86-64")).empty());
  EXPECT_TRUE(llvm::is_contained(needs(named("x86-64-v2")), std::string("sse4.2")));
  EXPECT_FALSE(llvm::is_contained(needs(named("x86-64-v2")), std::string("avx")));
  EXPECT_TRUE(llvm::is_contained(needs(named("x86-64-v3")), std::string("fma")));
  EXPECT_FALSE(llvm::is_contained(needs(named("x86-64-v3")), std::string("avx512f")));
  EXPECT_TRUE(llvm::is_contained(needs(named("x86-64-v4")), std::string("avx512f")));
}

TEST_F(ProcessorTest, TwoHaveLess) {
  EXPECT_EQ(common(named("haswell"), named("x86-64-v2")).name, "x86-64-v2");
  EXPECT_EQ(common(named("x86-64-v2"), named("haswell")).name, "x86-64-v2");
  EXPECT_EQ(common(named("haswell"), named("haswell")), named("haswell"));
  // One has AVX-512 and the other SSE4a.
  const auto both = needs(common(named("skylake-avx512"), named("znver2")));
  EXPECT_TRUE(llvm::is_contained(both, std::string("avx2")));
  EXPECT_FALSE(llvm::is_contained(both, std::string("avx512f")));
  EXPECT_FALSE(llvm::is_contained(both, std::string("sse4a")));
}

TEST_F(ProcessorTest, LoopsFitItsRegisters) {
  machine::Figures figures;
  EXPECT_EQ(limited(figures, named("x86-64-v4")), figures);
  EXPECT_EQ(limited(figures, named("x86-64-v3")).vectorBytes, 32u);
  EXPECT_EQ(limited(figures, named("x86-64-v3")).vectorRegisters, 16u);
  EXPECT_EQ(limited(figures, named("x86-64-v2")).vectorBytes, 16u);
  figures.vectorBytes = 8;
  EXPECT_EQ(limited(figures, named("x86-64-v3")).vectorBytes, 8u);
}

TEST_F(ProcessorTest, MultiplyAddsAreFusedUnlessTheUserChoseOneWithout) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(R"(
    declare float @llvm.fmuladd.f32(float, float, float)
    define float @said_nothing(float %a) "target-cpu"="x86-64" {
      %r = call float @llvm.fmuladd.f32(float %a, float %a, float %a)
      ret float %r
    }
    define float @without(float %a) "target-cpu"="x86-64" "strata-states-processor" {
      %r = call float @llvm.fmuladd.f32(float %a, float %a, float %a)
      %s = fmul contract float %r, %a
      ret float %s
    }
    define float @with(float %a) "target-cpu"="haswell" "strata-states-processor" {
      %r = call float @llvm.fmuladd.f32(float %a, float %a, float %a)
      ret float %r
    }
    define float @taken(float %a) "target-cpu"="haswell" "target-features"="-fma" "strata-states-processor" {
      %r = call float @llvm.fmuladd.f32(float %a, float %a, float %a)
      ret float %r
    })",
                                                problem, context);
  ASSERT_TRUE(module) << problem.getMessage().str();
  settleMultiplyAdds(*module);
  const auto text = [&](const char* function) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->getFunction(function)->print(stream);
    return text;
  };
  EXPECT_NE(text("said_nothing").find("@llvm.fma.f32"), std::string::npos);
  EXPECT_NE(text("with").find("@llvm.fma.f32"), std::string::npos);
  for (const char* function : {"without", "taken"}) {
    EXPECT_NE(text(function).find("fmul float %a, %a"), std::string::npos) << text(function);
    EXPECT_NE(text(function).find("fadd float"), std::string::npos);
    EXPECT_EQ(text(function).find("contract"), std::string::npos);
  }
}

TEST_F(ProcessorTest, CodeLooksBeforeItRuns) {
  llvm::LLVMContext context;
  llvm::Module old("old", context), module("new", context);
  requireProcessor(old, named("x86-64"), "old.o");
  EXPECT_TRUE(old.empty());
  requireProcessor(module, named("x86-64-v3"), "new.o");
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  EXPECT_NE(text.find("@llvm.global_ctors"), std::string::npos) << text;
  EXPECT_NE(text.find("new.o"), std::string::npos);
  EXPECT_NE(text.find("x86-64-v3"), std::string::npos);
  EXPECT_NE(text.find("avx2"), std::string::npos);
  EXPECT_NE(text.find("\"target-cpu\"=\"generic\""), std::string::npos);
}
#endif

} // namespace
} // namespace strata::target
