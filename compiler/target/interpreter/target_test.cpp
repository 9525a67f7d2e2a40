// The interpreter through the interface of targets: packed arguments, figures, kernels that stand in, and what it
// lacks.
#include "compiler/target/interpreter/target.h"

#include "compiler/ir/locations.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace strata::interpret {
namespace {

struct InterpreterTarget : testing::Test {
  mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    return registry;
  }();
  mlir::MLIRContext context{registry};
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  MlirDiagnostics forward{context, diagnostics};
  Machine machine;

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string& text) {
    context.loadAllAvailableDialects();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << said();
    return module;
  }
  std::string said() { return diagnostics.render({}); }
  bool reported(const char* code) { return said().find(code) != std::string::npos; }
};

constexpr const char* scaling = R"(
  svm.kernel @twice(%a: memref<?xf32, strided<[?], offset: ?>> {svm.access = "readwrite"}) attributes {llvm = @s::@t}
  func.func @f(%a: memref<?xf32, strided<[?], offset: ?>>, %by: f32, %n: index, %flag: i1) attributes {svm.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.if %flag {
      scf.for %i = %c0 to %n step %c1 {
        %x = memref.load %a[%i] : memref<?xf32, strided<[?], offset: ?>>
        %y = arith.mulf %x, %by : f32
        memref.store %y, %a[%i] : memref<?xf32, strided<[?], offset: ?>>
      }
    }
    svm.run @twice(%a) : (memref<?xf32, strided<[?], offset: ?>>) -> ()
    return
  }
  svm.llvm_source @s "")";

TEST_F(InterpreterTarget, CallsWithPackedArguments) {
  auto module = parse(scaling);
  target::NativeFunctions natives;
  natives["twice"] = [](void** packed) {
    const auto* words = static_cast<const int64_t*>(packed[0]);
    auto* data = reinterpret_cast<float*>(words[0]); // NOLINT(performance-no-int-to-ptr): what packed arguments are
    for (int64_t i = 0; i < words[1]; ++i)
      data[i * words[2]] *= 2;
  };
  const target::Program program{*module, machine};
  ASSERT_TRUE(target().supports(program, diagnostics)) << said();
  auto artefact = target().compile(program, {}, natives, diagnostics);
  auto executable = artefact->load();
  ASSERT_TRUE(executable) << said();
  auto entry = executable->entry("f");
  ASSERT_TRUE(entry) << said();
  float data[] = {1, -1, 2, -1, 3, -1}; // every second one
  int64_t block[] = {reinterpret_cast<int64_t>(data), 3, 2}, n = 3;
  float by = 10;
  bool flag = true;
  void* arguments[] = {block, &by, &n, &flag};
  EXPECT_TRUE(entry(arguments));
  EXPECT_EQ(std::vector<float>(data, data + 6), (std::vector<float>{20, -1, 40, -1, 60, -1}));
  EXPECT_EQ(executable->figures()["kernel runs"], 1);
  executable->resetFigures();
  EXPECT_EQ(executable->figures()["kernel runs"], 0);
  n = 4; // one beyond the block
  EXPECT_FALSE(entry(arguments));
  EXPECT_TRUE(reported("interpret-")) << said();
}

TEST_F(InterpreterTarget, SaysWhatItLacks) {
  auto module = parse(scaling);
  const target::NativeFunctions none;
  const target::Program program{*module, machine};
  auto artefact = target().compile(program, {}, none, diagnostics);
  EXPECT_FALSE(artefact->load()->entry("absent"));
  EXPECT_TRUE(reported("interpreter-no-entry")) << said();
  EXPECT_FALSE(artefact->text("llvm"));
  EXPECT_TRUE(reported("interpreter-makes-no-files")) << said();
  EXPECT_FALSE(artefact->objects({}, 1));
  EXPECT_FALSE(target().libraries());
}

} // namespace
} // namespace strata::interpret
