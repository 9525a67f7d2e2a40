// Divisions under a condition that do not change in their loop, before LLVM's vectoriser and after it.
#include "compiler/target/host/hoist_divisions.h"

#include "compiler/target/host/engine.h"
#include "compiler/target/host/passes_testing.h"
#include "compiler/target/processor.h"

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace strata::host {
namespace {

/// for (x = 0; x < n; x++) if (a[x] != 0) b[x] = c[DIVISION]
std::string loopWith(const std::string& division) {
  return "define void @f(i64 %n, i64 %h, i64 %m, ptr noalias %a, ptr noalias %b, ptr noalias readonly %c) {\n"
         "entry:\n  %some = icmp sgt i64 %n, 0\n  br i1 %some, label %before, label %out\n"
         "before:\n  br label %loop\n"
         "loop:\n  %x = phi i64 [ 0, %before ], [ %next, %end ]\n"
         "  %pa = getelementptr i32, ptr %a, i64 %x\n  %va = load i32, ptr %pa\n  %holds = icmp ne i32 %va, 0\n"
         "  br i1 %holds, label %then, label %end\n"
         "then:\n" +
         division +
         "  %pc = getelementptr i64, ptr %c, i64 %q\n  %vc = load i64, ptr %pc\n"
         "  %pb = getelementptr i64, ptr %b, i64 %x\n  store i64 %vc, ptr %pb\n  br label %end\n"
         "end:\n  %next = add i64 %x, 1\n  %more = icmp slt i64 %next, %n\n  br i1 %more, label %loop, label %out\n"
         "out:\n  ret void\n}\n";
}

std::string hoisted(const std::string& division) {
  return after(loopWith(division), nullptr, [](llvm::PassBuilder&, llvm::ModulePassManager& passes) {
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(HoistDivisionsPass()));
  });
}

/// Whether the operation stands before the loop, and how its divisor is made safe.
bool isBeforeLoop(const std::string& text, const std::string& operation) {
  const size_t at = text.find("%q = " + operation), loop = text.find("\nloop:");
  return at != std::string::npos && at < loop;
}

TEST(HoistDivisions, LeaveTheConditionWithADivisorThatIsNotZero) {
  const std::string text = hoisted("  %q = urem i64 %h, %m\n");
  EXPECT_TRUE(isBeforeLoop(text, "urem")) << text;
  EXPECT_NE(text.find("select i1"), std::string::npos) << text;
  EXPECT_EQ(text.find("icmp eq i64 %h"), std::string::npos) << text;
}

TEST(HoistDivisions, SignedOnesDoNotOverflowEither) {
  for (const char* operation : {"sdiv", "srem"}) {
    const std::string text = hoisted("  %q = " + std::string(operation) + " i64 %h, %m\n");
    EXPECT_TRUE(isBeforeLoop(text, operation)) << text;
    EXPECT_NE(text.find("-9223372036854775808"), std::string::npos) << text;
  }
}

TEST(HoistDivisions, OperandsLeaveTheLoopBeforeThem) {
  EXPECT_TRUE(isBeforeLoop(hoisted("  %p = udiv i64 %h, %m\n  %s = add i64 %p, 3\n  %q = urem i64 %s, %m\n"), "urem"));
}

TEST(HoistDivisions, WhatChangesOrCannotTrapStays) {
  EXPECT_FALSE(isBeforeLoop(hoisted("  %q = urem i64 %x, %m\n"), "urem"));
  EXPECT_FALSE(isBeforeLoop(hoisted("  %q = urem i64 %h, 7\n"), "urem"));
  EXPECT_FALSE(isBeforeLoop(hoisted("  %w = load i64, ptr %c\n  %q = urem i64 %h, %w\n"), "urem"));
}

/// How many values a vector loop that gathers has that were computed under a condition.
size_t conditionalValues(const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find("[ poison, "); at != std::string::npos; at = text.find("[ poison, ", at + 1))
    ++count;
  return text.find("masked.gather") != std::string::npos ? count : 0;
}

constexpr const char* vectorProcessor = "skylake-avx512"; // which gathers

TEST(HoistDivisions, NoLaneUsesWhatAnotherOneComputed) {
  for (const char* operation : {"urem", "udiv", "srem", "sdiv"}) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic wrong;
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    auto module =
        llvm::parseAssemblyString(loopWith("  %q = " + std::string(operation) + " i64 %h, %m\n"), wrong, context);
    CodeOptions options;
    options.processor = target::processorOf(vectorProcessor, diagnostics);
    ASSERT_TRUE(module && optimize(*module, options, diagnostics));
    const std::string text = printed(*module);
    EXPECT_NE(text.find("masked.gather"), std::string::npos) << "no longer vectorised\n" << text;
    EXPECT_EQ(conditionalValues(text), 0u) << text;
  }
}

// What this pass is there for. When this fails, LLVM computes the remainder for each lane, or before the loop, and the
// pass can go.
TEST(HoistDivisions, LlvmStillUsesOneLanesRemainderInTheOthers) {
  std::string error;
  const std::string triple = llvm::sys::getDefaultTargetTriple();
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  ASSERT_TRUE(target) << error;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, vectorProcessor, "", {}, llvm::Reloc::PIC_));
  std::string text = loopWith("  %q = urem i64 %h, %m\n");
  text.insert(text.find(") {") + 1, " \"target-cpu\"=\"" + std::string(vectorProcessor) + "\"");
  text = after(text, machine.get(), [](llvm::PassBuilder& builder, llvm::ModulePassManager& passes) {
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  });
  EXPECT_EQ(conditionalValues(text), 1u) << text;
}

} // namespace
} // namespace strata::host
