// What the tests of placement share: a machine written out in the test, programs in the dialect, and the codes of what
// was reported. One thread.
#pragma once
#include "compiler/ir/locations.h"
#include "compiler/mapping/place.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace strata {

/// A machine for tests to which machines matter little: one memory and one processor.
inline constexpr const char* oneMemoryText = R"(
machine: one
memories:
  - {name: main, capacity: available, explicit: true}
processors:
  - {name: core, kind: control, local: [main], masters: [core]}
levels:
  - {level: 0, memory: main, processor: core}
)";

struct MappingTest : testing::Test {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  mlir::DialectRegistry registry;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<MlirDiagnostics> forward;
  Machine machine;

  explicit MappingTest(const char* machineText) {
    svm::registerDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
    forward = std::make_unique<MlirDiagnostics>(*context, diagnostics);
    auto read = readMachine(diagnostics, sources.add("machine.yaml", machineText, SourceKind::Machine));
    EXPECT_TRUE(read && validate(*read, diagnostics)) << text();
    if (read)
      machine = *read;
  }

  std::string text() { return diagnostics.render({}); }

  bool reported(const std::string& code) {
    for (const Diagnostic& diagnostic : diagnostics.all())
      if (diagnostic.kind->code == code)
        return true;
    return false;
  }

  /// The module of `body` at `stage`; #v and #w are the layouts of vectors and matrices.
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string& body, const std::string& stage = "logical") {
    std::string program =
        "#v = strided<[1], offset: ?>\n#w = strided<[?, 1], offset: ?>\nmodule attributes {svm.stage = \"" + stage +
        "\"} {\n" + body + "}\n";
    sources.add("p.mlir", program, SourceKind::Program);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(program, context.get(), "p.mlir");
    EXPECT_TRUE(module) << text();
    return module;
  }
};

} // namespace strata
