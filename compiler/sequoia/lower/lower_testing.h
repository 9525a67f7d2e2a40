// Helpers of the lowering's tests: a program is lowered with a mapping (its own, or the default one) and executed by
// the interpreter of the dialect. Single-threaded.
#pragma once

#include "compiler/interpret/interpreter.h"
#include "compiler/ir/svm.h"
#include "compiler/sequoia/lower/lower.h"
#include "compiler/sequoia/sequoia_testing.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <limits>
#include <numeric>

namespace strata::sequoia::testing {

using interpret::Argument;

struct LoweredProgram : Session {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::optional<Lowered> lowered;
  std::string failure; // the code of the last run's failed check

  /// An empty mapping stands for the default one.
  explicit LoweredProgram(const std::string& text, const std::string& map = "", const std::string& machineName = "host",
                          std::string_view entry = "") {
    diagnostics.enableRemarks(false);
    read(text);
    EXPECT_TRUE(program) << rendered();
    if (!program)
      return;
    Machine target = machine(machineName);
    std::optional<Mapping> mapping =
        map.empty() ? defaultMapping(*program, target, entry, {}, diagnostics) : readMap(map);
    EXPECT_TRUE(mapping) << rendered();
    std::optional<InstanceGraph> graph =
        mapping ? resolve(*program, *mapping, target, entry, diagnostics) : std::nullopt;
    EXPECT_TRUE(graph) << rendered();
    if (graph)
      lowered = lower(*program, *graph, target, context, diagnostics);
    if (lowered)
      readBack();
  }

  /// The text form is the whole program: it verifies and prints the same again.
  void readBack() {
    mlir::ParserConfig config(&context);
    auto again = mlir::parseSourceString<mlir::ModuleOp>(text(), config);
    ASSERT_TRUE(again) << text();
    std::string out;
    llvm::raw_string_ostream stream(out);
    again->print(stream);
    EXPECT_EQ(out, text());
  }

  std::string text() {
    std::string out;
    llvm::raw_string_ostream stream(out);
    if (lowered)
      lowered->module->print(stream);
    return out;
  }

  /// The entry point's function.
  std::string entry() {
    std::string name;
    lowered->module->walk([&](mlir::func::FuncOp function) {
      if (function->hasAttr(svm::SvmDialect::entryAttr))
        name = function.getName().str();
    });
    return name;
  }

  bool run(const std::vector<Argument>& arguments) {
    failure.clear();
    if (!lowered) {
      ADD_FAILURE() << rendered();
      return false;
    }
    interpret::Options options;
    options.trackUndefined = true;
    options.maxSteps = 200'000'000;
    auto interpreter = interpret::Interpreter::create(*lowered->module, diagnostics, options);
    bool good = interpreter->call(entry(), arguments);
    failure = interpreter->failure().code;
    return good;
  }
};

template <typename T>
Argument array(std::vector<T>& values) {
  return Argument::block(values.data(), {static_cast<int64_t>(values.size())});
}
template <typename T>
Argument matrix(std::vector<T>& values, int64_t rows) {
  return Argument::block(values.data(), {rows, static_cast<int64_t>(values.size()) / rows});
}
template <typename T>
Argument reference(T& value) {
  return Argument::block(&value, {});
}
inline Argument number(int64_t value) {
  return Argument::bits(static_cast<uint64_t>(value));
}

/// Runs the statements of a leaf over in ints a and b and in doubles x and y; `r` is the result, of the type given.
template <typename T>
T evaluate(const std::string& type, const std::string& statements, int a = 0, int b = 0, double x = 0, double y = 0,
           const std::string& before = "", std::string* failure = nullptr) {
  const std::string signature = "(in int a, in int b, in double x, in double y, out " + type + " r)";
  LoweredProgram subject(before + "void task T" + signature + ";\nvoid task<leaf> T::L" + signature + " {\n" +
                         statements + "\n}\n");
  T result{};
  bool good = subject.run({number(a), number(b), Argument::real(x), Argument::real(y), reference(result)});
  if (failure)
    *failure = subject.failure;
  else
    EXPECT_TRUE(good) << subject.rendered() << subject.text();
  return result;
}

} // namespace strata::sequoia::testing
