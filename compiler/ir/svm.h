// The svm dialect in C++: types, attributes and operations generated from svm.td, and what every pass asks of them.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/ir/attribute_name.h"

#include "compiler/ir/svm_dialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/ir/svm_types.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/ir/svm_attributes.h.inc"

namespace strata::svm {

/// What the body of a kernel is (svm.td, svm.kernel).
enum class KernelKind { Structured, Llvm, BlackBox, Equations };
/// "structured", "llvm", "black box".
llvm::StringRef kindName(KernelKind kind);

} // namespace strata::svm

#define GET_OP_CLASSES
#include "compiler/ir/svm_ops.h.inc"

namespace strata::svm {

/// The module's stage; a module that names none is logical.
Stage stageOf(mlir::ModuleOp module);
void setStage(mlir::ModuleOp module, Stage stage);

/// Registers the dialects that a logical program may hold, and no more (each costs start-up time).
void registerDialects(mlir::DialectRegistry& registry);

/// The type under which blocks pass between functions, kernels and views: dynamic extents, rows of adjacent elements,
/// any pitch and any start. A rank of 0 is a single element.
mlir::MemRefType viewType(unsigned rank, mlir::Type element, mlir::Attribute memory = {});

/// The memory class that a placed block lies in, or an empty name.
llvm::StringRef memoryOf(mlir::Type block);
mlir::MemRefType withMemory(mlir::MemRefType block, llvm::StringRef memory);

/// How a block is distributed over instances of a memory, or null.
DistributionAttr distributionOf(mlir::Type block);

/// Reads the format of an svm.print: for each value in order, whether it is a floating-point number. Flags, width and
/// precision are C's; a conversion is one of d i u x c and f e g, or %% for a per cent sign. False when it is not of
/// this form; `problem` says why.
bool readFormat(llvm::StringRef format, llvm::SmallVectorImpl<bool>& reals, std::string& problem);

/// The processor class that executes the regions of an operation, where it says so: of a control function, of a loop
/// that is placed, of instances, of code on another processor. Null otherwise.
mlir::FlatSymbolRefAttr executorOf(mlir::Operation* op);
/// Whether an operation's region runs several times at once, each time making progress.
bool isConcurrent(mlir::Operation* op);
/// Iterations that a concurrent loop may have. One that waits keeps a stack, and the address space of a process (2^47
/// bytes) holds so many of 64 KiB (runtime/core/fibre.cpp), whatever memory there is.
constexpr int64_t maximumInstances = int64_t(1) << 31;

/// Whether an operation gives a view of its first operand: a part, a cast, one dimension taken as several, or the block
/// itself, which may be somewhere else (svm.in_place).
bool isViewOfAnother(mlir::Operation* op);
/// Follows such operations to the value that owns the storage (a block, an argument).
mlir::Value rootOf(mlir::Value block);
/// Whether a root's storage is its own: two different roots that are distinct share nothing that either writes. Blocks
/// made by operations are, and arguments of functions and of kernels that do not say that they may alias (an argument
/// overlaps another only where neither is written).
bool isDistinctRoot(mlir::Value root);
/// Whether two blocks can be parts of one storage, as far as their roots say.
bool mayShare(mlir::Value first, mlir::Value second);
/// Whether a value is made outside of an operation's regions.
bool isOutside(mlir::Value value, mlir::Operation* op);

} // namespace strata::svm
