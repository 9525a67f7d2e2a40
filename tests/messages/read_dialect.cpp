// Implements it: the text's own check, MLIR's parser and verifier, and that of logical programs.
#include "tests/messages/read_dialect.h"

#include "compiler/ir/check_text.h"
#include "compiler/ir/locations.h"
#include "compiler/ir/svm.h"
#include "compiler/ir/verify_logical.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

namespace strata {

namespace {

STRATA_DIAGNOSTIC(textProblem, Error, "removals-text", "the text is refused before it is parsed");

mlir::MLIRContext& context() {
  static mlir::MLIRContext* made = [] {
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    auto* fresh = new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
    fresh->loadAllAvailableDialects();
    return fresh;
  }();
  return *made;
}

} // namespace

void readDialect(BufferId file, DiagnosticEngine& diagnostics) {
  const SourceBuffer& buffer = diagnostics.sources().buffer(file);
  if (const auto problem = svm::checkText(buffer.text())) {
    diagnostics.report(textProblem, {file, static_cast<uint32_t>(problem->begin), static_cast<uint32_t>(problem->end)});
    return;
  }
  MlirDiagnostics forward(context(), diagnostics);
  auto program = mlir::parseSourceString<mlir::ModuleOp>(buffer.text(), &context(), buffer.name());
  if (program && mlir::succeeded(mlir::verify(*program)))
    (void)svm::verifyLogical(*program);
}

} // namespace strata
