// The frame of a logical program, which every notation lowers to: a module with its attributes, entry points and
// kernels with what is known of their arguments. A notation builds the bodies.
//
//   LogicalModule program(context, place);
//   auto twice = program.kernel(place, "twice", {LogicalModule::block(view, "x", svm::Access::ReadWrite)});
//   auto main = program.entry(place, "main", {LogicalModule::block(view, "x", svm::Access::ReadWrite, {extent})},
//   {"n"});
//   ...                                      // the bodies, with a builder
//   return program.finish("toy", &machine, &record, diagnostics);
#pragma once

#include "base/machine/machine.h"
#include "base/source/diagnostic.h"
#include "compiler/ir/svm.h"
#include "compiler/mapping/record.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <string_view>
#include <vector>

namespace strata::mapping {

/// Not thread safe, as the context is not.
class LogicalModule {
public:
  /// An argument of an entry point, a function or a kernel.
  struct Argument {
    mlir::Type type;
    mlir::NamedAttrList attributes; // those of attributes.def that stand on arguments
    mlir::AffineMap extents;        // from the program's sizes to the block's extents; null where nothing is known
  };
  /// `name` is what messages call it, or empty; `extents`, one a dimension where they are known, are affine expressions
  /// of sizes (symbols), numbered as the names that entry() is given.
  static Argument block(mlir::MemRefType type, std::string_view name, svm::Access access,
                        mlir::ArrayRef<mlir::AffineExpr> extents = {}, unsigned sizes = 0);
  /// A block whose extents the program states as numbers.
  static Argument block(mlir::MemRefType type, std::string_view name, svm::Access access,
                        mlir::ArrayRef<int64_t> extents);
  static Argument scalar(mlir::Type type, std::string_view name);

  /// Loads the dialects that a logical program may hold into the context.
  LogicalModule(mlir::MLIRContext& context, mlir::Location place);

  mlir::ModuleOp module() { return *module_; }

  /// A function that can be called from outside, at the end of the module; its body has one block with the arguments,
  /// and no end yet. `sizes` are the names of the program's sizes.
  mlir::func::FuncOp entry(mlir::Location place, std::string_view name, mlir::ArrayRef<Argument> arguments,
                           mlir::ArrayRef<std::string> sizes = {});
  /// A function that the program's other functions call.
  mlir::func::FuncOp function(mlir::Location place, std::string_view name, mlir::ArrayRef<Argument> arguments);
  /// A kernel without a body: the caller makes it (makeBody), or says which LLVM function it is.
  svm::KernelOp kernel(mlir::Location place, std::string_view symbol, mlir::ArrayRef<Argument> arguments);
  /// The block of a kernel's body, with its arguments.
  static mlir::Block* makeBody(svm::KernelOp kernel);

  /// The module with its attributes, verified; nothing where the verifier reported an error. `notation` is the name
  /// that `svm.program` has. `record` is for `machine`; both are null where a notation leaves the mapping to others.
  mlir::OwningOpRef<mlir::ModuleOp> finish(std::string_view notation, const Machine* machine, const Record* record,
                                           DiagnosticEngine& diagnostics);

private:
  mlir::MLIRContext& context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

} // namespace strata::mapping
