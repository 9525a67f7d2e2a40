// A context with the dialect in it, programs from text, and the pass that erases checks, for the tests of it. One
// thread.
#pragma once
#include "compiler/transform/prove_in_range.h"

#include "compiler/ir/svm.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <string>

namespace strata::transform {

struct ProveInRangeContext {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  ProveInRangeContext() {
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string& text) {
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return module;
  }
  void prove(mlir::ModuleOp module) {
    mlir::PassManager passes(&context);
    passes.addPass(createProveInRangePass());
    EXPECT_TRUE(mlir::succeeded(passes.run(module)));
  }
};

} // namespace strata::transform
