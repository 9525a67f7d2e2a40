// What the tests of a notation's lowering share: a logical program that reads back as it is printed, and its runs by
// the interpreter of the dialect. Single-threaded.
#pragma once

#include "compiler/interpret/interpreter.h"
#include "compiler/ir/svm.h"
#include "compiler/ir/verify_logical.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace strata::cfamily::testing {

using interpret::Argument;

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

inline std::string printed(mlir::ModuleOp module) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  module.print(stream);
  return out;
}

/// The text of a program is the whole of it: it prints the same once it has been read back.
inline void expectReadsBack(mlir::ModuleOp module) {
  const std::string text = printed(module);
  auto again = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(module.getContext()));
  ASSERT_TRUE(again) << text;
  EXPECT_EQ(printed(*again), text);
}

/// The same of a logical program, which keeps the rules of the dialect.
inline void expectLogical(mlir::ModuleOp module) {
  EXPECT_TRUE(mlir::succeeded(svm::verifyLogical(module)));
  expectReadsBack(module);
}

/// The name of the function that is an entry point; "" where there is none.
inline std::string entryOf(mlir::ModuleOp module) {
  std::string name;
  module.walk([&](mlir::func::FuncOp function) {
    if (function->hasAttr(svm::SvmDialect::entryAttr))
      name = function.getName().str();
  });
  return name;
}

/// How a run came out.
struct Run {
  bool good = false;
  std::string failure; // the code of the check that failed
  std::string output;
};

/// `checked`: reads of what nobody wrote are found.
inline Run execute(mlir::ModuleOp module, const std::string& function, const std::vector<Argument>& arguments,
                   DiagnosticEngine& diagnostics, bool checked = true) {
  interpret::Options options;
  options.trackUndefined = checked;
  options.maxSteps = 200'000'000;
  auto interpreter = interpret::Interpreter::create(module, diagnostics, options);
  Run run;
  run.good = interpreter->call(function, arguments);
  run.failure = interpreter->failure().code;
  run.output = interpreter->output();
  return run;
}

} // namespace strata::cfamily::testing
