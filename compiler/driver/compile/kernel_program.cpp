// A copy of the program loses all that it is not asked for, and gets its entry points.
#include "compiler/driver/compile/kernel_program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace strata::driver {

std::string entryOfKernel(StringRef kernel) {
  return ("strata.native." + kernel).str();
}

void addKernelEntry(ModuleOp program, svm::KernelOp kernel) {
  auto builder = OpBuilder::atBlockEnd(program.getBody());
  auto location = kernel.getLoc();
  auto function = builder.create<func::FuncOp>(location, entryOfKernel(kernel.getName()),
                                               builder.getFunctionType(kernel.getArgumentTypes(), {}));
  function->setAttr(svm::SvmDialect::entryAttr, builder.getUnitAttr());
  builder.setInsertionPointToStart(function.addEntryBlock());
  builder.create<svm::RunOp>(location, mlir::Type(), FlatSymbolRefAttr::get(kernel.getNameAttr()),
                             function.getArguments(), ValueRange(), FlatSymbolRefAttr());
  builder.create<func::ReturnOp>(location);
}

OwningOpRef<ModuleOp> kernelProgram(ModuleOp program, llvm::function_ref<bool(svm::KernelOp)> isWanted) {
  OwningOpRef<ModuleOp> alone(program.clone());
  SmallVector<Operation*> others;
  SmallVector<svm::KernelOp> kernels;
  for (Operation& op : *alone->getBody()) {
    auto kernel = dyn_cast<svm::KernelOp>(op);
    auto function = dyn_cast<func::FuncOp>(op);
    if (kernel && isWanted(kernel))
      kernels.push_back(kernel);
    else if (!isa<svm::LLVMSourceOp, memref::GlobalOp>(op) && !(function && function.isExternal()))
      others.push_back(&op);
  }
  for (Operation* op : others)
    op->erase();
  for (svm::KernelOp kernel : kernels)
    addKernelEntry(*alone, kernel);
  return alone;
}

} // namespace strata::driver
