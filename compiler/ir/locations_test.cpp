// Diagnostics of MLIR arrive in the engine with their severity, place and notes.
#include "compiler/ir/locations.h"

#include "compiler/ir/svm.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace strata;

TEST(MlirDiagnostics, ArriveWithSeverityPlaceAndNotes) {
  SourceManager sources;
  sources.add("p.mlir", "module {\n  here\n}\n", SourceKind::Program);
  DiagnosticEngine diagnostics(sources);
  diagnostics.enableRemarks(true);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  MlirDiagnostics forward(context, diagnostics);
  mlir::Location place = mlir::FileLineColLoc::get(&context, "p.mlir", 2, 3);
  mlir::emitError(place) << "an error";
  mlir::emitWarning(place) << "a warning";
  mlir::emitRemark(mlir::NameLoc::get(mlir::StringAttr::get(&context, "x"), place)) << "a remark";
  std::vector<std::string> codes;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    codes.push_back(diagnostic.kind->code);
    ASSERT_EQ(diagnostic.labels.size(), 1u);
    EXPECT_EQ(sources.lineColumn(diagnostic.labels[0].location), (LineColumn{2, 3}));
  }
  EXPECT_EQ(codes, (std::vector<std::string>{"dialect-error", "dialect-warning", "dialect-remark"}));
}

TEST(MlirDiagnostics, HavePlacesOnlyInFilesThatAreKnown) {
  SourceManager sources;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  EXPECT_FALSE(sourceLocation(sources, mlir::FileLineColLoc::get(&context, "absent.mlir", 2, 3)).valid());
  EXPECT_FALSE(sourceLocation(sources, mlir::UnknownLoc::get(&context)).valid());
}

TEST(MlirDiagnostics, ProposeTheNearestName) {
  const std::pair<const char*, const char*> cases[] = {
      {"func.func @f(%begin: index) {\n  %b = arith.addi %begn, %begin : index\n  return\n}\n", "'%begin'"},
      {"!block = memref<?xf32>\nfunc.func @f(%a: !blok) {\n  return\n}\n", "'!block'"},
      {"func.func @f(%a: index) {\n  %b = arith.adddi %a, %a : index\n  return\n}\n", "'arith.addi'"}};
  mlir::DialectRegistry registry;
  svm::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  for (const auto& [text, name] : cases) {
    SourceManager sources;
    sources.add("p.mlir", text, SourceKind::Program);
    DiagnosticEngine diagnostics(sources);
    MlirDiagnostics forward(context, diagnostics);
    EXPECT_FALSE(mlir::parseSourceString<mlir::ModuleOp>(text, &context, "p.mlir"));
    ASSERT_EQ(diagnostics.all().size(), 1u) << text << diagnostics.render({});
    EXPECT_EQ(diagnostics.all()[0].helps, std::vector<std::string>{"did you mean " + std::string(name) + "?"}) << text;
  }
}
