// Helpers of the lowering's tests: a program is read, lowered, verified, and executed by the interpreter of the
// dialect. Single-threaded.
#pragma once

#include "compiler/hbir/check/frontend.h"
#include "compiler/hbir/lower/lower.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/svm.h"
#include "compiler/ir/verify_logical.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <sstream>

namespace strata::hbir::testing {

using interpret::Argument;

struct LoweredProgram {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<Program> program;
  std::optional<Machine> machine;
  std::optional<Lowered> lowered;
  std::string failure; // the code of the last run's failed check
  std::string output;  // of the last run

  explicit LoweredProgram(const std::string& text, const std::string& machineName = "host") {
    program = readProgram(sources.add("test.hbir", text, SourceKind::Program), diagnostics, {});
    if (program)
      lowerOnto(machineName);
  }

  void lowerOnto(const std::string& machineName) {
    machine = loadMachine(machineName, {std::string(STRATA_SOURCE_DIR) + "/machines"}, diagnostics);
    lowered = lower(*program, *machine, context, diagnostics);
    if (!lowered)
      return;
    EXPECT_TRUE(mlir::succeeded(svm::verifyLogical(*lowered->module)));
    // The text form is the whole program: it reads back and prints the same again.
    mlir::ParserConfig config(&context);
    auto again = mlir::parseSourceString<mlir::ModuleOp>(this->text(), config);
    EXPECT_TRUE(again);
    if (again)
      EXPECT_EQ(print(*again), this->text());
  }

  static std::string print(mlir::ModuleOp module) {
    std::string out;
    llvm::raw_string_ostream stream(out);
    module->print(stream);
    return out;
  }
  std::string text() { return lowered ? print(*lowered->module) : ""; }
  std::string said() const { return diagnostics.render({}); }
  /// How often an operation stands in the module.
  template <typename Op>
  int count() {
    int found = 0;
    lowered->module->walk([&](Op) { ++found; });
    return found;
  }

  /// `checked`: reads of what nobody wrote are found.
  bool run(const std::vector<Argument>& arguments, bool checked = true) {
    failure.clear();
    if (!lowered) {
      ADD_FAILURE() << said();
      return false;
    }
    interpret::Options options;
    options.trackUndefined = checked;
    options.maxSteps = 100'000'000;
    auto interpreter = interpret::Interpreter::create(*lowered->module, diagnostics, options);
    bool good = interpreter->call("main", arguments);
    failure = interpreter->failure().code;
    output = interpreter->output();
    return good;
  }
};

/// A program of form A on four by four tiles, which one group has all of.
inline std::string onTiles(const std::string& data, const std::string& code) {
  return "target {\n  memory g[4] { size 64M; width 8B; };\n"
         "  tile t[4][4] { memory l { size 256K; width 8B; }; };\n}\n"
         "config { group tg[4][4] { tile target.t[x][y]; }; }\n"
         "data {\n" +
         data + "\n}\ncode {\n" + code + "\n}\n";
}

template <typename T>
Argument array(std::vector<T>& values) {
  return Argument::block(values.data(), {static_cast<int64_t>(values.size())});
}
template <typename T>
Argument matrix(std::vector<T>& values, int64_t rows) {
  return Argument::block(values.data(), {rows, static_cast<int64_t>(values.size()) / rows});
}

inline std::string example(const std::string& path) {
  std::ifstream file(std::string(STRATA_SOURCE_DIR) + "/examples/hbir/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace strata::hbir::testing
