// For the tests of this folder: a function whose body is made by the builders that a notation's lowering derives from,
// and its runs by the interpreter of the dialect. Single-threaded.
#pragma once

#include "compiler/cfamily/lower/lower_control.h"
#include "compiler/cfamily/lower/lower_testing.h"

namespace strata::cfamily::testing {

/// What is made before the builders: they need a context.
struct CodeContext {
  CodeContext() {
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

class Code : CodeContext, public ControlLowering {
public:
  using ArithmeticLowering::arithmetic;
  using ArithmeticLowering::comparison;
  using ArithmeticLowering::complement;
  using ArithmeticLowering::converted;
  using ArithmeticLowering::isSafe;
  using ArithmeticLowering::negated;
  using ArithmeticLowering::shift;
  using CodeBuilder::integer;
  using CodeBuilder::make;
  using CodeBuilder::truth;
  using ControlLowering::allocate;
  using ControlLowering::eitherOf;
  using ControlLowering::flag;
  using ControlLowering::FlatList;
  using ControlLowering::load;
  using ControlLowering::noneSet;
  using ControlLowering::shortCircuit;
  using ControlLowering::store;

  /// `body` makes the result of the parameters.
  template <typename Body>
  Code(std::vector<Scalar> parameters, Scalar result, Body&& body)
      : CodeContext(), ControlLowering(context, mlir::UnknownLoc::get(&context)),
        module_(mlir::ModuleOp::create(place_)) {
    llvm::SmallVector<mlir::Type> types;
    for (Scalar each : parameters)
      types.push_back(typeOf(each));
    builder_.setInsertionPointToEnd(module_->getBody());
    auto function = make<mlir::func::FuncOp>("f", builder_.getFunctionType(types, typeOf(result)));
    allocations_ = function.addEntryBlock();
    builder_.setInsertionPointToStart(allocations_);
    mlir::Value value = body(*this, mlir::ValueRange(allocations_->getArguments()));
    make<mlir::func::ReturnOp>(value);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
    interpreter_ = interpret::Interpreter::create(*module_, diagnostics_, {});
  }

  struct Outcome {
    std::string failure; // the code of the check that failed
    uint64_t bits = 0;
  };
  Outcome run(const std::vector<uint64_t>& parameters) {
    std::vector<Argument> arguments;
    for (uint64_t each : parameters)
      arguments.push_back(Argument::bits(each));
    std::vector<uint64_t> results;
    const bool good = interpreter_->call("f", arguments, &results);
    return {good ? "" : interpreter_->failure().code, good ? results.at(0) : 0};
  }

  /// How often an operation stands in it.
  template <typename Op>
  int count() {
    int found = 0;
    module_->walk([&](Op) { ++found; });
    return found;
  }
  /// How deep regions are nested in it, the function's being one.
  int depth() {
    int deepest = 0;
    module_->walk([&](mlir::Operation* operation) {
      int depth = 0;
      for (mlir::Operation* parent = operation->getParentOp(); parent; parent = parent->getParentOp())
        ++depth;
      deepest = std::max(deepest, depth - 1);
    });
    return deepest;
  }

private:
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  SourceManager sources_;
  DiagnosticEngine diagnostics_{sources_};
  std::unique_ptr<interpret::Interpreter> interpreter_;
};

} // namespace strata::cfamily::testing
