// What the tests of the interpreter share: a program given as text, and an interpreter of it.
#pragma once

#include "compiler/interpret/interpreter.h"
#include "compiler/ir/svm.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace strata::interpret {

/// A parsed program and an interpreter of it.
class Subject {
public:
  explicit Subject(const std::string& text, Options options = {}) : diagnostics(sources) {
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    registry.insert<mlir::cf::ControlFlowDialect>();
    context.appendDialectRegistry(registry);
    sources.add("test.mlir", text, SourceKind::Program);
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), "test.mlir");
    EXPECT_TRUE(module) << text;
    if (module)
      interpreter = Interpreter::create(*module, diagnostics, std::move(options));
  }
  bool call(const std::vector<Argument>& arguments = {}, std::vector<uint64_t>* results = nullptr) {
    return interpreter && interpreter->call("f", arguments, results);
  }
  std::string text() { return diagnostics.render({}); }

  SourceManager sources;
  DiagnosticEngine diagnostics;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<Interpreter> interpreter;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Runs @f and expects the failure; returns the message.
inline std::string failure(const std::string& program, const std::string& code,
                           const std::vector<Argument>& arguments = {}, Options options = {}) {
  Subject subject(program, std::move(options));
  EXPECT_FALSE(subject.call(arguments));
  EXPECT_TRUE(subject.diagnostics.hasErrors());
  EXPECT_EQ(subject.interpreter->failure().code, code) << subject.text();
  return subject.text();
}

/// The type of a block of floats.
inline const char* const one = "memref<?xf32, strided<[1], offset: ?>>";

} // namespace strata::interpret
