// External tasks: a C function and the kernel that it is the body of.
#include "base/process/temporary_folder.h"
#include "compiler/clang/c_text.h"
#include "compiler/ir/locations.h"
#include "compiler/sequoia/external/external.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

namespace {

using namespace strata;
using namespace strata::clang;
using namespace strata::sequoia::external;

const char* const scaleKernel = R"(
module attributes {svm.stage = "logical"} {
  svm.kernel @scale(%a: memref<?x?xf32, strided<[?, 1], offset: ?>> {svm.access = "readwrite", svm.name = "A"},
                    %k: i16 {svm.name = "k"}, %s: memref<f32, strided<[], offset: ?>> {svm.access = "write", svm.name = "sum"})
    attributes {llvm = @source::@strata.ext.Scale,
                extents = [affine_map<()[m, n] -> (m, n)>, affine_map<()[m, n] -> ()>, affine_map<()[m, n] -> ()>]}
})";

struct ExternalTest : testing::Test {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  mlir::MLIRContext context{registry(), mlir::MLIRContext::Threading::DISABLED};
  TemporaryFolder folder;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    return registry;
  }

  bool compile(const std::string& text, const std::string& name = "scale.c", uint64_t scratch = 0,
               const char* program = scaleKernel) {
    MlirDiagnostics forward(context, diagnostics);
    module = mlir::parseSourceString<mlir::ModuleOp>(program, &context);
    EXPECT_TRUE(module) << diagnostics.render({});
    if (!text.empty())
      folder.write(name, text);
    return module && compileExternals(*module, {{"Scale", folder.path(name), {"M", "N"}, scratch, {}}}, diagnostics);
  }

  std::string code() {
    EXPECT_EQ(diagnostics.errorCount(), 1u) << diagnostics.render({});
    return diagnostics.all().empty() ? "" : diagnostics.all()[0].kind->code;
  }
};

const char* const scaleC = R"(#include "sequoia_ext.h"
void Scale(sqArray_t *A, short k, float *sum) {
  float *scratch = (float *)sqLocalSpace(Scale);
  sqCalcParams();
  scratch[0] = 0;
  for (sqSize_t i = 0; i < sqParam(Scale, M); ++i) {
    float *row = sqElmtSpec2D(Scale, A, i, 0);
    for (sqSize_t j = 0; j < sqParam(Scale, N); ++j)
      scratch[0] += row[j] *= k;
  }
  *sum = scratch[0];
}
)";

TEST_F(ExternalTest, TheKernelIsAFunctionOfTheKernelConvention) {
  // The place that nobody may look into keeps it from being raised.
  std::string text = scaleC;
  text.replace(text.find("scratch[0] = 0;"), 0, "volatile int seen = 0;\n");
  ASSERT_TRUE(compile(text, "scale.c", 64)) << diagnostics.render({});
  std::vector<svm::LLVMSourceOp> code(module->getOps<svm::LLVMSourceOp>().begin(),
                                      module->getOps<svm::LLVMSourceOp>().end());
  ASSERT_EQ(code.size(), 1u);
  llvm::LLVMContext llvmContext;
  llvm::SMDiagnostic problem;
  auto ir = llvm::parseIR(llvm::MemoryBufferRef(code[0].getText(), "test"), problem, llvmContext);
  ASSERT_TRUE(ir) << problem.getMessage().str();
  llvm::Function* function = ir->getFunction("strata.ext.Scale");
  ASSERT_TRUE(function && !function->isDeclaration());
  std::string type;
  llvm::raw_string_ostream(type) << *function->getFunctionType();
  EXPECT_EQ(type, "void (ptr, i64, i64, i64, i64, i16, ptr)");
  EXPECT_FALSE(function->getArg(5)->hasSExtAttr());
  for (const llvm::Function& each : *ir)
    EXPECT_FALSE(each.getName().contains("raised") || each.getName().contains("row_major")) << each.getName().str();
}

TEST_F(ExternalTest, TheKernelIsRaised) {
  ASSERT_TRUE(compile(scaleC, "scale.c", 64)) << diagnostics.render({});
  EXPECT_TRUE(module->getOps<svm::LLVMSourceOp>().empty());
  auto kernel = module->lookupSymbol<svm::KernelOp>("scale");
  ASSERT_TRUE(kernel && kernel.isStructured());
  unsigned loops = 0;
  kernel.walk([&](mlir::scf::ForOp) { ++loops; });
  EXPECT_EQ(loops, 2u);
}

TEST_F(ExternalTest, CxxWorksToo) {
  EXPECT_TRUE(compile(scaleC, "scale.cpp", 64)) << diagnostics.render({});
}

TEST_F(ExternalTest, AWrongSignatureIsAnErrorInTheUsersLine) {
  EXPECT_FALSE(compile("#include \"sequoia.h\"\nvoid Scale(sqArray_t *A, double k, float *sum) {}\n"));
  EXPECT_EQ(code(), "clang-error");
  ASSERT_FALSE(diagnostics.all()[0].labels.empty());
  EXPECT_EQ(sources.lineColumn(diagnostics.all()[0].labels[0].location).line, 2u);
}

TEST_F(ExternalTest, AFileWithoutTheFunction) {
  EXPECT_FALSE(compile("int other;\n"));
  EXPECT_EQ(code(), "clang-external-missing");
}

TEST_F(ExternalTest, ANameThatNoFunctionCanHave) {
  folder.write("scale.c", scaleC);
  module = mlir::parseSourceString<mlir::ModuleOp>("svm.kernel @scale() attributes {llvm = @source::@strata.ext.while}",
                                                   &context);
  ASSERT_TRUE(module);
  EXPECT_FALSE(compileExternals(*module, {{"while", folder.path("scale.c"), {}, 0, {}}}, diagnostics));
  EXPECT_EQ(code(), "clang-external-name");
}

TEST_F(ExternalTest, AMissingFile) {
  EXPECT_FALSE(compile(""));
  EXPECT_EQ(code(), "clang-external-file");
}

TEST_F(ExternalTest, MoreLocalSpaceThanThereIs) {
  EXPECT_FALSE(compile(scaleC, "scale.c", 1 << 30));
  EXPECT_EQ(code(), "clang-external-scratch");
}

TEST_F(ExternalTest, AStructThatHasNoNameInC) {
  EXPECT_FALSE(compile("int x;", "scale.c", 0, R"(
    svm.kernel @scale(%z: !svm.record<"complex", re: f32, im: f32> {svm.name = "z"}) attributes {llvm = @source::@strata.ext.Scale})"));
  EXPECT_EQ(code(), "clang-external-type");
}

const char* const recordKernel = R"(
module attributes {svm.stage = "logical"} {
  svm.kernel @scale(%k: i16 {svm.name = "k"}, %z: !svm.record<"complex", re: f32, im: f32>
                      {svm.name = "z", svm.element_declarations = [#svm.declaration<name = "struct complex", definition = "struct complex { float re, im; };">]})
    attributes {llvm = @source::@strata.ext.Scale}
})";

TEST_F(ExternalTest, AStructByValueComesByPointer) {
  ASSERT_TRUE(compile("struct own { float a, b; };\nvoid Scale(short k, struct own z) {}", "scale.c", 0, recordKernel))
      << diagnostics.render({});
  llvm::LLVMContext llvmContext;
  llvm::SMDiagnostic problem;
  svm::LLVMSourceOp code = *module->getOps<svm::LLVMSourceOp>().begin();
  auto ir = llvm::parseIR(llvm::MemoryBufferRef(code.getText(), "test"), problem, llvmContext);
  ASSERT_TRUE(ir) << problem.getMessage().str();
  std::string type;
  llvm::raw_string_ostream(type) << *ir->getFunction("strata.ext.Scale")->getFunctionType();
  EXPECT_EQ(type, "void (i16, ptr)");
}

TEST_F(ExternalTest, AFunctionOfOtherStructs) {
  EXPECT_FALSE(compile("void Scale(short k, float *z) {}", "scale.c", 0, recordKernel));
  EXPECT_EQ(code(), "clang-external-arguments");
}

TEST(CText, NamesThatAreNone) {
  EXPECT_TRUE(isIdentifier("VectAdd_1"));
  for (const char* name : {"", "1st", "a.b", "while", "class", "main", "__x"})
    EXPECT_FALSE(isIdentifier(name)) << name;
  for (const char* name : {"", "1st", "a.b", "while", "class", "main", "__x"})
    EXPECT_TRUE(isIdentifier(asIdentifier(name))) << name;
}

TEST(CText, AffineExpressions) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto n = mlir::getAffineSymbolExpr(0, &context), m = mlir::getAffineSymbolExpr(1, &context);
  EXPECT_EQ(affineText(n * 2 + m + 1, {"N", "M"}), "(((N * 2) + M) + 1)");
  EXPECT_EQ(affineText(n.ceilDiv(3) % 5, {"N"}), "strata_modulo(strata_ceiling_divide(N, 3), 5)");
}

} // namespace
