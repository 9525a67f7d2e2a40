// External functions: found in files, bound to the program's declarations, and refused where they do not fit.
#include "base/process/temporary_folder.h"
#include "compiler/clang/functions.h"
#include "compiler/ir/locations.h"

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

struct FunctionsTest : testing::Test {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  mlir::MLIRContext context{registry(), mlir::MLIRContext::Threading::DISABLED};
  TemporaryFolder folder;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  FunctionsTest() { context.loadAllAvailableDialects(); }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    return registry;
  }

  /// Files by name and text; the program declares and calls `int twice(int)` and `bool odd(int)`.
  bool compile(const std::vector<std::pair<std::string, std::string>>& files) {
    MlirDiagnostics forward(context, diagnostics);
    module = mlir::parseSourceString<mlir::ModuleOp>(R"(
      func.func private @twice(i32) -> i32
      func.func private @odd(i32) -> i1
      func.func @main(%x: i32) {
        %y = func.call @twice(%x) : (i32) -> i32
        %z = func.call @odd(%y) : (i32) -> i1
        return
      })",
                                                     &context);
    std::vector<std::string> paths;
    for (const auto& [name, text] : files) {
      if (!text.empty())
        folder.write(name, text);
      paths.push_back(folder.path(name));
    }
    return module &&
           compileFunctions(*module, paths, {{"twice", {"int"}, "int", {}}, {"odd", {"int"}, "bool", {}}}, diagnostics);
  }

  std::string code() {
    EXPECT_EQ(diagnostics.errorCount(), 1u) << diagnostics.render({});
    return diagnostics.all().empty() ? "" : diagnostics.all()[0].kind->code;
  }
};

const std::string both =
    "static int half;\nint twice(int x) { return 2 * x + half; }\n_Bool odd(int x) { return x & 1; }\n";

TEST_F(FunctionsTest, CallsGoToTheWrappersOfTheDefinitions) {
  ASSERT_TRUE(compile({{"f.c", both}})) << diagnostics.render({});
  EXPECT_TRUE(module->lookupSymbol("external.twice"));
  EXPECT_FALSE(module->lookupSymbol("twice"));
  auto source = *module->getOps<svm::LLVMSourceOp>().begin();
  llvm::LLVMContext llvmContext;
  llvm::SMDiagnostic problem;
  auto code = llvm::parseIR(llvm::MemoryBufferRef(source.getText(), "test"), problem, llvmContext);
  ASSERT_TRUE(code) << problem.getMessage().str();
  llvm::Function* odd = code->getFunction("external.odd");
  ASSERT_TRUE(odd && !odd->isDeclaration());
  EXPECT_TRUE(odd->hasRetAttribute(llvm::Attribute::ZExt)) << "what a caller of a bool counts on";
}

TEST_F(FunctionsTest, TwoFilesOneOfThemCxx) {
  EXPECT_TRUE(compile(
      {{"a.c", "int twice(int x) { return 2 * x; }\n"},
       {"b.cpp",
        "namespace { template <class T> T low(T x) { return x & 1; } }\nbool odd(int x) { return low(x); }\n"}}))
      << diagnostics.render({});
}

TEST_F(FunctionsTest, AMissingFunction) {
  EXPECT_FALSE(compile({{"f.c", "int twice(int x) { return 2 * x; }\n"}}));
  EXPECT_EQ(code(), "clang-function-missing");
}

TEST_F(FunctionsTest, AFunctionInTwoFiles) {
  EXPECT_FALSE(compile({{"f.c", both}, {"g.c", "int twice(int x) { return x; }\n"}}));
  EXPECT_EQ(code(), "clang-function-twice");
}

TEST_F(FunctionsTest, AWrongSignatureIsAnErrorInTheUsersLine) {
  EXPECT_FALSE(compile({{"f.c", "#include <math.h>\n\nint twice(float x) { return 0; }\n"}}));
  EXPECT_EQ(code(), "clang-error");
  ASSERT_FALSE(diagnostics.all()[0].labels.empty());
  EXPECT_EQ(sources.lineColumn(diagnostics.all()[0].labels[0].location).line, 3u);
}

TEST_F(FunctionsTest, AMissingFile) {
  EXPECT_FALSE(compile({{"f.c", ""}}));
  EXPECT_EQ(code(), "clang-function-file");
}

TEST_F(FunctionsTest, ANameThatIsNoneInC) {
  module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  EXPECT_FALSE(compileFunctions(*module, {}, {{"while", {}, "", {}}}, diagnostics));
  EXPECT_EQ(code(), "clang-function-name");
}

} // namespace
