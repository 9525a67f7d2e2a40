// What the verifier of logical programs says of a text, for tests.
#pragma once

#include "compiler/ir/svm.h"
#include "compiler/ir/verify_logical.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace strata::svm {

/// What the verifier says, or an empty text.
inline std::string problem(const std::string& program) {
  mlir::DialectRegistry registry;
  svm::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) { said += diagnostic.str(); });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "!cut = memref<?xi32, strided<[1], offset: ?>, #svm.dist<\"l\"[4] per 1, (i) -> (i) at (i) -> (0)>>\n"
      "!plain = memref<?xi32, strided<[1], offset: ?>>\n" +
          program,
      mlir::ParserConfig(&context));
  if (module && succeeded(svm::verifyLogical(*module)))
    EXPECT_EQ(said, "");
  else
    EXPECT_NE(said, "");
  return said;
}

inline void expectProblem(const std::string& program, const std::string& part) {
  std::string said = problem(program);
  EXPECT_NE(said.find(part), std::string::npos) << said;
}

} // namespace strata::svm
