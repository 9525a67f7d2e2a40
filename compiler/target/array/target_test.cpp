// The array through the interface of targets: packed arguments, strided blocks, figures, what is refused, and what a
// configuration that was tampered with comes to.
#include "compiler/target/array/target.h"

#include "compiler/ir/locations.h"
#include "compiler/target/array/kernels.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace strata::array {
namespace {

struct ArrayTarget : testing::Test {
  mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    return registry;
  }();
  mlir::MLIRContext context{registry};
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  MlirDiagnostics forward{context, diagnostics};
  Machine machine = *loadMachine("array-4x4", {STRATA_SOURCE_DIR "/machines"}, diagnostics);
  const target::NativeFunctions none;

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string& text) {
    context.loadAllAvailableDialects();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << said();
    return module;
  }
  std::string said() { return diagnostics.render({}); }
  bool reported(const char* code) { return said().find(code) != std::string::npos; }
};

/// y[i] = x[i] + x[i - 1], where there is one. `extent` is what the kernel states of y.
std::string sums(const std::string& extent = "N") {
  return R"(
  svm.kernel @sums(%x: memref<?xi32, strided<[?], offset: ?>> {svm.access = "read"},
                   %y: memref<?xi32, strided<[?], offset: ?>> {svm.access = "write"}, %n: index)
      attributes {extents = [affine_map<()[N] -> (N)>, affine_map<()[N] -> ()" +
         extent + R"()>, affine_map<()[N] -> ()>]} {
    svm.equations ["i"] (%n) ["N"] in [affine_set<(i)[N] : (N - 1 >= 0)>] {
      svm.equation "v" in [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>] {
        %a = svm.element %x at affine_map<(i)[N] -> (i)> : memref<?xi32, strided<[?], offset: ?>> -> i32
        svm.define %a : i32
      }
      svm.equation of %y at affine_map<(i)[N] -> (i)> : memref<?xi32, strided<[?], offset: ?>>
          in [affine_set<(i)[N] : (i - 1 >= 0, N - 1 - i >= 0)>] {
        %a = svm.use "v" at affine_map<(i)[N] -> (i)> : i32
        %b = svm.use "v" at affine_map<(i)[N] -> (i - 1)> : i32
        %c = arith.addi %a, %b : i32
        svm.define %c : i32
      }
      svm.equation of %y at affine_map<(i)[N] -> (i)> : memref<?xi32, strided<[?], offset: ?>>
          in [affine_set<(i)[N] : (i == 0, N - 1 - i >= 0)>] {
        %a = svm.use "v" at affine_map<(i)[N] -> (i)> : i32
        svm.define %a : i32
      }
    }
    svm.return
  }
  func.func @f(%x: memref<?xi32, strided<[?], offset: ?>> {svm.access = "read"},
               %y: memref<?xi32, strided<[?], offset: ?>> {svm.access = "write"}, %n: index) attributes {svm.entry} {
    svm.run @sums(%x, %y, %n) : (memref<?xi32, strided<[?], offset: ?>>, memref<?xi32, strided<[?], offset: ?>>, index) -> ()
    return
  })";
}

TEST_F(ArrayTarget, CallsWithPackedArguments) {
  auto module = parse(sums());
  const target::Program program{*module, machine};
  ASSERT_TRUE(target().supports(program, diagnostics)) << said();
  EXPECT_TRUE(target().maps(*module));
  auto artefact = target().compile(program, {}, none, diagnostics);
  ASSERT_TRUE(artefact) << said();
  auto executable = artefact->load();
  ASSERT_TRUE(executable) << said();
  auto entry = executable->entry("f");
  ASSERT_TRUE(entry) << said();
  int32_t x[] = {1, -1, 2, -1, 3, -1, 4, -1}, y[4] = {}; // every second one of x
  int64_t from[] = {reinterpret_cast<int64_t>(x), 4, 2}, to[] = {reinterpret_cast<int64_t>(y), 4, 1}, n = 4;
  void* arguments[] = {from, to, &n};
  ASSERT_TRUE(entry(arguments)) << said();
  EXPECT_EQ(std::vector<int32_t>(y, y + 4), (std::vector<int32_t>{1, 3, 5, 7}));
  EXPECT_EQ(executable->figures()["array runs"], 1);
  EXPECT_GT(executable->figures()["array cycles"], 0);
  executable->resetFigures();
  EXPECT_EQ(executable->figures()["array runs"], 0);
  EXPECT_EQ(executable->figures()["kernel runs"], 0);
  n = 3; // the blocks have 4
  EXPECT_FALSE(entry(arguments));
  EXPECT_TRUE(reported("array-extent")) << said();
}

TEST_F(ArrayTarget, SaysWhatItLacks) {
  auto module = parse(sums());
  const target::Program program{*module, machine};
  auto artefact = target().compile(program, {}, none, diagnostics);
  ASSERT_TRUE(artefact) << said();
  EXPECT_FALSE(artefact->text("config"));
  EXPECT_TRUE(reported("array-size")) << said();
  EXPECT_FALSE(artefact->objects({}, 1));
  EXPECT_TRUE(reported("array-makes-no-objects")) << said();
  EXPECT_FALSE(artefact->load()->entry("absent"));
  EXPECT_TRUE(reported("array-no-entry")) << said();
  EXPECT_FALSE(target().libraries());
}

TEST_F(ArrayTarget, ExtentsHaveToBeStated) {
  std::string text = sums();
  const size_t begin = text.find("attributes {extents"), end = text.find("]}", begin) + 2;
  auto module = parse(text.erase(begin, end - begin));
  EXPECT_FALSE(target().compile({*module, machine}, {}, none, diagnostics));
  EXPECT_TRUE(reported("array-no-extents")) << said();
}

TEST_F(ArrayTarget, BlackBoxesAreRefused) {
  auto module = parse(R"(
  svm.kernel @box(%x: memref<?xi32, strided<[?], offset: ?>> {svm.access = "readwrite"}) attributes {blackbox = "filter"}
  func.func @f(%x: memref<?xi32, strided<[?], offset: ?>> {svm.access = "readwrite"}) attributes {svm.entry} {
    svm.run @box(%x) : (memref<?xi32, strided<[?], offset: ?>>) -> ()
    return
  })");
  EXPECT_FALSE(target().supports({*module, machine}, diagnostics));
  EXPECT_TRUE(reported("array-black-box")) << said();
  EXPECT_FALSE(target().maps(*module));
  const Machine bare;
  EXPECT_FALSE(target().supports({*module, bare}, diagnostics));
  EXPECT_TRUE(reported("array-none")) << said();
}

TEST_F(ArrayTarget, AConfigurationThatLiesFailsInTheSimulator) {
  auto module = parse(sums());
  auto kernels = mapKernels(*module, machine, {}, diagnostics);
  ASSERT_TRUE(kernels && kernels->size() == 1) << said();
  Symbolic lying = kernels->front().runner->symbolic();
  for (Access& access : lying.accesses)
    access.offset -= access.isOutput ? 1 : 0; // the results come a cycle later
  target::ArrayRunner runner(lying, target::arrayProcessor(machine)->array.front(), {});
  const int32_t x[] = {1, 2, 3, 4};
  int32_t y[4] = {};
  const std::byte* from[] = {reinterpret_cast<const std::byte*>(x)};
  std::byte* to[] = {reinterpret_cast<std::byte*>(y)};
  const auto error = runner.run({4}, from, to);
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->kind->code, "array-internal") << error->message;
}

} // namespace
} // namespace strata::array
