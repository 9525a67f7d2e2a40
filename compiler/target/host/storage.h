// Blocks, moves, streams and tokens as calls of the runtime.
#pragma once

#include "base/machine/machine.h"
#include "compiler/ir/svm.h"
#include "runtime/abi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace strata::host {

/// Declares the runtime's functions in the module, once each.
class RuntimeCalls {
public:
  explicit RuntimeCalls(mlir::ModuleOp program) : program_(program) {}
  /// A call of the runtime; `result` may be null for none.
  mlir::Value call(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef name, mlir::Type result,
                   mlir::ValueRange arguments);
  /// The address of a constant zero-terminated text; equal texts share one.
  mlir::Value text(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef text);
  /// A pointer that is null.
  mlir::Value null(mlir::OpBuilder& builder, mlir::Location location);
  /// The address of the StrataCheck of a rule at a place.
  mlir::Value check(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef code, llvm::StringRef message,
                    llvm::StringRef help);

  /// The address of the StrataWay of a move between two memories of a machine, through these links.
  mlir::Value way(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef block, uint32_t from, uint32_t to,
                  llvm::ArrayRef<uint32_t> links);
  /// The address of the StrataStreamPlace of a stream in a memory or through a FIFO.
  mlir::Value streamPlace(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef stream, uint32_t memory,
                          uint32_t fifo);
  /// The address of such a StrataParts.
  mlir::Value parts(mlir::OpBuilder& builder, mlir::Location location, const StrataParts& parts);

private:
  /// Numbers of the widths of a structure's fields.
  static llvm::SmallVector<mlir::Value> numbers(mlir::OpBuilder& builder, mlir::Location location,
                                                llvm::ArrayRef<mlir::Type> types, llvm::ArrayRef<int64_t> values);
  /// The address of a constant structure of fields of these types; equal keys share one.
  mlir::Value structure(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef prefix, llvm::StringRef key,
                        llvm::ArrayRef<mlir::Type> types,
                        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder&)> fields);
  mlir::LLVM::GlobalOp global(llvm::StringRef prefix, mlir::Type type, bool isText, llvm::StringRef text);
  mlir::ModuleOp program_;
  llvm::StringMap<mlir::LLVM::LLVMFuncOp> functions_;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts_;
  llvm::StringMap<mlir::LLVM::GlobalOp> structures_;
  unsigned next_ = 0;
};

/// Where a region gives back what it made: its end, in the opposite order of making. Regions are left through their
/// last operation only.
class RegionEnds {
public:
  /// Calls `body` with a builder that stands where the region holding `op` ends, before what was made earlier is given
  /// back.
  void atEnd(mlir::Operation* op, llvm::function_ref<void(mlir::OpBuilder&)> body);

private:
  llvm::DenseMap<mlir::Block*, mlir::Operation*> ends_;
};

/// Storage on the stack of the enclosing function, or of the region that will be one, made once however often the code
/// around runs.
mlir::Value stackSlot(mlir::OpBuilder& builder, mlir::Location location, mlir::Type type);

/// The LLVM type in which a value is kept: captured by a part, or handed to another target.
mlir::Type storedType(mlir::Type type);

/// Whether code may load and store in the memory of a block's type; other blocks are windows, moved by the runtime.
bool isAddressed(mlir::Type block, const Machine& machine);

/// Turns every load and store of an element in other memories into a move.
void moveElements(mlir::ModuleOp program, const Machine& machine);

/// The operations that make blocks and variables which parts capture.
using Captured = llvm::DenseSet<mlir::Operation*>;

/// Replaces every operation of the svm dialect but instances and code on other processors (outlined before) and kernels
/// (lowered before). What parts capture does not lie on the stack. `callsCarryIds`: as LoweringOptions says.
void lowerStorage(mlir::ModuleOp program, const Machine& machine, const Captured& captured, bool callsCarryIds);

/// Whether a token goes on to another holder at the end of its own region: the next iteration, or a loop behind it.
bool isPassedOn(mlir::Value token);
/// Counts the holders of tokens that loops carry. First of all: it looks at the program's loops as they are.
void holdTokens(mlir::ModuleOp program);

/// Turns every svm.instances, every svm.on and every run with a token into a function and a call of the runtime. What
/// they capture goes by value: scalars and descriptions of blocks.
Captured outlineParts(mlir::ModuleOp program, const Machine& machine);

} // namespace strata::host
