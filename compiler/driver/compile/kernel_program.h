// Kernels taken out of a program, as a program of their own with an entry point for each: for code that is to run them
// where the rest of the program does not run.
#pragma once

#include "compiler/ir/svm.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace strata::driver {

/// The entry point that runs a kernel on its own arguments.
std::string entryOfKernel(llvm::StringRef kernel);
/// Adds it to a logical program.
void addKernelEntry(mlir::ModuleOp program, svm::KernelOp kernel);
/// A copy of a logical program with these kernels alone, the functions of C that it declares, its LLVM sources, and an
/// entry point for each kernel.
mlir::OwningOpRef<mlir::ModuleOp> kernelProgram(mlir::ModuleOp program,
                                                llvm::function_ref<bool(svm::KernelOp)> isWanted);

} // namespace strata::driver
