// Errors of code generation that no program can provoke.
#include "compiler/target/host/engine.h"

#include "llvm/IR/LLVMContext.h"

#include <gtest/gtest.h>

using namespace strata;

TEST(Engine, RefusesProcessorsThatItGeneratesNoCodeFor) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  host::CodeOptions options;
  options.cpu = "abacus";
  EXPECT_FALSE(host::optimize(module, options, diagnostics));
  ASSERT_EQ(diagnostics.errorCount(), 1u);
  EXPECT_STREQ(diagnostics.all()[0].kind->code, "host-unknown-processor");
}
