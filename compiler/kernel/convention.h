// The calling convention of kernels, the same for all kinds of body: for a block its pointer, then its extents, then
// its strides in elements; a record or other scalar by value; a stream as a pointer. A body that is a function of an
// svm.llvm_source has its records in memory and takes pointers to them.
#pragma once

#include "compiler/ir/svm.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace strata::kernel {

/// How types of the dialect look in LLVM. Memory spaces name memories, which all lie in one address space here.
/// `converter` is an mlir::LLVMTypeConverter.
void addTypeConversions(mlir::TypeConverter& converter);

/// The LLVM form of a descriptor of a block's type ({allocated, aligned, offset, extents, strides}).
mlir::LLVM::LLVMStructType descriptorType(mlir::MemRefType type);

/// The types of the convention for one argument.
llvm::SmallVector<mlir::Type> flattenType(mlir::Type type);

/// The values of the convention for one argument. The pointer stands at the block's first element.
llvm::SmallVector<mlir::Value> flatten(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value);

/// The block that a pointer, extents and strides describe; strides that the type states are taken from it.
mlir::Value describe(mlir::OpBuilder& builder, mlir::Location location, mlir::MemRefType type, mlir::Value pointer,
                     mlir::ValueRange extents, mlir::ValueRange strides);

/// Turns every structured kernel into a function of the convention (private, inlinable), declares the others, and every
/// synchronous svm.run into a call. Leaves runs with tokens to the target.
void lowerKernels(mlir::ModuleOp program);

} // namespace strata::kernel
