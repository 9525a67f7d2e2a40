// Which calls may be inlined, on modules in LLVM's notation.
#include "compiler/target/host/limit_inlining.h"

#include "compiler/target/host/passes_testing.h"

namespace strata::host {
namespace {

const std::string loopBody = "e:\n  br label %l\n"
                             "l:\n  %i = phi i64 [0, %e], [%j, %l]\n  store volatile i64 %i, ptr %p\n"
                             "  %j = add i64 %i, 1\n  %c = icmp ult i64 %j, %n\n  br i1 %c, label %l, label %x\n"
                             "x:\n  ret void\n}\n";

/// A loop in @loop, and @f, which calls it so many times.
std::string caller(const std::string& attributes, size_t calls, const std::string& name = "f",
                   const std::string& callee = "loop") {
  std::string text = "define void @" + name + "(i64 %n, ptr %p) {\n";
  for (size_t call = 0; call < calls; ++call)
    text += "  call void @" + callee + "(i64 %n, ptr %p)\n";
  text += "  ret void\n}\n";
  return callee == "loop" ? "define internal void @loop(i64 %n, ptr %p) " + attributes + " {\n" + loopBody + text
                          : text;
}

/// Calls of `callee` that the pass says are not to be inlined.
size_t left(const std::string& text, const std::string& callee = "loop") {
  const std::string result = after(
      text, nullptr, [](llvm::PassBuilder&, llvm::ModulePassManager& passes) { passes.addPass(LimitInliningPass()); });
  // The pass adds no other attribute to a call: one that has some stands with their group's number.
  size_t found = 0;
  for (size_t at = result.find("call void @" + callee + "("); at != std::string::npos;
       at = result.find("call void @" + callee + "(", at + 1))
    found += result.substr(at, result.find('\n', at) - at).find('#') != std::string::npos;
  return found;
}

TEST(LimitInlining, AsManyLoopsAsAreAllowed) {
  EXPECT_EQ(left(caller("", mostInlinedLoops)), 0U);
}

TEST(LimitInlining, MoreLoopsAreCalled) {
  EXPECT_EQ(left(caller("", mostInlinedLoops + 1)), 1U);
  EXPECT_EQ(left(caller("", mostInlinedLoops * 3)), mostInlinedLoops * 2);
}

TEST(LimitInlining, LoopsOfCalleesCount) {
  const std::string outer = caller("", mostInlinedLoops / 2 + 1) + caller("", 3, "g", "f");
  EXPECT_EQ(left(outer, "f"), 2U);
}

TEST(LimitInlining, FunctionsThatAreAlwaysInlinedStaySo) {
  EXPECT_EQ(left(caller("alwaysinline", mostInlinedLoops + 1)), 0U);
}

TEST(LimitInlining, FunctionsWithoutLoopsAreLeftAlone) {
  std::string text = "define internal void @loop(i64 %n, ptr %p) {\n  ret void\n}\n";
  text += "define void @f(i64 %n, ptr %p) {\n";
  for (size_t call = 0; call < mostInlinedLoops * 2; ++call)
    text += "  call void @loop(i64 %n, ptr %p)\n";
  EXPECT_EQ(left(text + "  ret void\n}\n"), 0U);
}

TEST(LimitInlining, FunctionsThatCallEachOtherEnd) {
  EXPECT_EQ(left("define void @loop(i64 %n, ptr %p) {\n  call void @f(i64 %n, ptr %p)\n  ret void\n}\n"
                 "define void @f(i64 %n, ptr %p) {\n  call void @loop(i64 %n, ptr %p)\n  ret void\n}\n"),
            0U);
}

} // namespace
} // namespace strata::host
