// Which loops are marked, on functions in LLVM's notation.
#include "compiler/target/host/keep_tiles.h"

#include "compiler/target/host/passes_testing.h"

namespace strata::host {
namespace {

/// Whether a loop of %n rounds with this body is marked.
bool isKept(const std::string& body) {
  const std::string result = after("define void @f(ptr noalias %p, ptr noalias %q, i64 %n, <4 x float> %v) {\n"
                                   "entry:\n  br label %loop\nloop:\n"
                                   "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n"
                                   "  %from = getelementptr float, ptr %p, i64 %i\n"
                                   "  %to = getelementptr float, ptr %q, i64 %i\n" +
                                       body +
                                       "  %next = add nuw i64 %i, 4\n  %more = icmp ult i64 %next, %n\n"
                                       "  br i1 %more, label %loop, label %end\nend:\n  ret void\n}\n",
                                   nullptr, [](llvm::PassBuilder&, llvm::ModulePassManager& passes) {
                                     passes.addPass(llvm::createModuleToFunctionPassAdaptor(KeepTilesPass()));
                                   });
  const bool isVectorised = result.find("llvm.loop.isvectorized\", i32 1") != std::string::npos;
  EXPECT_EQ(isVectorised, result.find("llvm.loop.unroll.runtime.disable") != std::string::npos) << result;
  return isVectorised;
}

TEST(KeepTiles, LoopsOfVectorsAreMarked) {
  EXPECT_TRUE(isKept("  %x = load <4 x float>, ptr %from\n  store <4 x float> %x, ptr %to\n"));
  EXPECT_TRUE(isKept("  store <4 x float> %v, ptr %to\n")); // nothing in it has a vector's type
}

TEST(KeepTiles, LoopsOfNumbersAreLlvms) {
  EXPECT_FALSE(isKept("  %x = load float, ptr %from\n  store float %x, ptr %to\n"));
}

} // namespace
} // namespace strata::host
