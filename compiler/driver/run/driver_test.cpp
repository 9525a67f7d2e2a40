// What the command cannot be made to say: errors of Strata itself, and types that its own checks keep out.
#include "base/machine/figures.h"
#include "compiler/driver/compile/pipeline.h"
#include "compiler/driver/data/entry.h"
#include "compiler/driver/run/oracle.h"
#include "compiler/ir/locations.h"
#include "runtime/core/hardware.h"

#include "mlir/Parser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace strata;
using namespace strata::driver;

namespace {

struct DriverTest : testing::Test {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  mlir::DialectRegistry registry;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<MlirDiagnostics> forward;

  DriverTest() {
    svm::registerDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    forward = std::make_unique<MlirDiagnostics>(*context, diagnostics);
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string& text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, context.get(), "p.mlir");
  }

  /// Two results of an entry point with the array A of three elements, all zero: a run's and the interpreter's.
  struct TwoResults {
    Binding ours;
    Interpreted wanted;
  };
  TwoResults twoResults(const ElementType& type) {
    TwoResults two;
    two.wanted.hasValue.resize(1);
    for (Binding* binding : {&two.ours, &two.wanted.binding})
      binding->arrays.push_back(*Array::create(type, {3}, "A", diagnostics, {}));
    return two;
  }

  bool reported(const std::string& code) {
    for (const Diagnostic& diagnostic : diagnostics.all())
      if (diagnostic.kind->code == code)
        return true;
    return false;
  }
};

// A compiled library runs with the runtime's own figures, and code that the command runs with the machine's.
TEST_F(DriverTest, TheRuntimesFiguresAreThoseOfAMachineThatStatesNone) {
  const runtime::Hardware usual;
  const machine::Figures figures;
  EXPECT_EQ(static_cast<uint64_t>(usual.taskBytes), figures.taskBytes());
  EXPECT_EQ(static_cast<uint64_t>(usual.tileElements), figures.tileElements());
  EXPECT_EQ(usual.largePageBytes, figures.largePageBytes);
}

TEST_F(DriverTest, SaysThatAPhaseFailedOnAProgramThatWasChecked) {
  CompileOptions options;
  options.program = STRATA_SOURCE_DIR "/tests/conformance/programs/empty.mlir";
  Compiler compiler(*context, diagnostics, options);
  auto program = compiler.logical();
  ASSERT_TRUE(program) << diagnostics.render({});
  // Not a scheduled program: the operation has no form in code.
  program->module =
      parse("func.func @f(%a: i32, %n: i32) -> i32 {\n  %p = math.ipowi %a, %n : i32\n  return %p : i32\n}");
  ASSERT_TRUE(program->module);
  const target::Program given{*program->module, program->machine};
  EXPECT_FALSE(program->target->compile(given, {}, {}, diagnostics));
  EXPECT_TRUE(reported("host-internal")) << diagnostics.render({});
}

TEST_F(DriverTest, SaysThatAPassHasLeftAProgramThatDoesNotVerify) {
  CompileOptions options;
  options.program = STRATA_SOURCE_DIR "/tests/conformance/programs/empty.mlir";
  options.verifyEach = true;
  Compiler compiler(*context, diagnostics, options);
  auto program = compiler.logical();
  ASSERT_TRUE(program) << diagnostics.render({});
  for (auto function : program->module->getOps<mlir::func::FuncOp>())
    function.front().getTerminator()->erase();
  EXPECT_FALSE(compiler.schedule(*program));
  EXPECT_TRUE(reported("driver-internal")) << diagnostics.render({});
}

TEST_F(DriverTest, RefusesEntryPointsWithTypesThatNoFileHolds) {
  auto module = parse("func.func @f(%a: i128) attributes {svm.entry} { return }");
  ASSERT_TRUE(module);
  EXPECT_FALSE(readEntry(module->lookupSymbol<mlir::func::FuncOp>("f"), diagnostics));
  EXPECT_TRUE(reported("run-unsupported-argument"));
}

TEST_F(DriverTest, NamesTheFirstElementThatDiffersFromTheInterpreters) {
  auto module =
      parse("func.func @f(%a: memref<?xi32, strided<[1], offset: ?>> {svm.name = \"A\", svm.access = \"readwrite\"}) "
            "attributes {svm.entry} { return }");
  ASSERT_TRUE(module);
  auto entry = readEntry(module->lookupSymbol<mlir::func::FuncOp>("f"), diagnostics);
  ASSERT_TRUE(entry);
  auto [ours, wanted] = twoResults(ElementType::signedInteger(4));
  EXPECT_TRUE(compare(*module, *entry, ours, wanted, diagnostics));
  ours.arrays[0].as<int32_t>()[2] = 7;
  EXPECT_FALSE(compare(*module, *entry, ours, wanted, diagnostics));
  EXPECT_TRUE(reported("check-differs"));
  EXPECT_NE(diagnostics.render({}).find("element [2] is 7 and should be 0"), std::string::npos)
      << diagnostics.render({});
}

TEST_F(DriverTest, NumbersThatWereReducedAgreeToWithinTheirDistance) {
  auto module =
      parse("func.func @f(%a: memref<?xf32, strided<[1], offset: ?>> {svm.name = \"A\", svm.access = \"readwrite\"}) "
            "attributes {svm.entry} { return }");
  ASSERT_TRUE(module);
  auto entry = readEntry(module->lookupSymbol<mlir::func::FuncOp>("f"), diagnostics);
  ASSERT_TRUE(entry);
  auto [ours, wanted] = twoResults(ElementType::floating(4));
  wanted.binding.arrays[0].as<float>()[0] = 1000;
  wanted.distances = {{-1, 0.25, 0}};
  auto agree = [&](float first, float second, float third) {
    auto* values = ours.arrays[0].as<float>();
    values[0] = 1000 + first, values[1] = second, values[2] = third;
    return compare(*module, *entry, ours, wanted, diagnostics);
  };
  EXPECT_TRUE(agree(0, 0.25f, 0));
  EXPECT_TRUE(agree(0, 0, -0.0f)) << "a distance of nothing is one between numbers";
  EXPECT_FALSE(agree(0, 0.2501f, 0));
  EXPECT_NE(diagnostics.render({}).find("a difference of up to 0.25"), std::string::npos) << diagnostics.render({});
  EXPECT_FALSE(agree(0.001f, 0, 0)) << "no reduction had a part in it";
  EXPECT_FALSE(agree(0, 0, 1e-30f));
  wanted.distances = {{-1, INFINITY, 0}};
  EXPECT_TRUE(agree(0, 0.9f, 0)) << "nobody knows: a part of the largest";
  EXPECT_FALSE(agree(0, 1.1f, 0));
}

TEST_F(DriverTest, WhatTheOrderOfAReductionDecidesIsNoError) {
  auto module = parse(R"(
    svm.kernel @c(%p: memref<f32> {svm.access = "read"}, %q: memref<f32> {svm.access = "readwrite"}) { svm.return }
    func.func @f(%a: memref<?xi32, strided<[1], offset: ?>> {svm.name = "A", svm.access = "readwrite"}, %t: memref<f32>)
        attributes {svm.entry} {
      %c0 = arith.constant 0 : index
      svm.parallel (%i) = (%c0) to (%c0) reduce(%p = %t : memref<f32> with #svm.combiner<@c, "c">) { }
      return
    })");
  ASSERT_TRUE(module);
  EntryPoint entry;
  entry.arguments.push_back({});
  entry.arguments[0].name = "A";
  entry.arguments[0].written = true;
  auto [ours, wanted] = twoResults(ElementType::signedInteger(4));
  ours.arrays[0].as<int32_t>()[1] = 1;
  EXPECT_FALSE(compare(*module, entry, ours, wanted, diagnostics));
  EXPECT_TRUE(reported("check-differs"));
  const unsigned errors = diagnostics.errorCount();
  wanted.decidedAt = Location{};
  EXPECT_TRUE(compare(*module, entry, ours, wanted, diagnostics));
  EXPECT_TRUE(reported("check-order-decides"));
  EXPECT_EQ(diagnostics.errorCount(), errors);
}

} // namespace
