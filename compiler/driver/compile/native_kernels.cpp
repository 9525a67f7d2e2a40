// A copy of the program keeps its LLVM sources, the kernels that call into them and the functions that it declares, and
// gets an entry point for each, which runs it; the copy then goes the way of any program, placed on this computer
// without a mapping. A function's result is what its entry point writes into a last argument.
#include "compiler/driver/compile/native_kernels.h"

#include "compiler/driver/compile/kernel_program.h"
#include "compiler/target/registry/registry.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace strata::driver {

namespace {

/// A kernel that calls a function of C and writes its result into one more argument.
svm::KernelOp addCaller(ModuleOp program, func::FuncOp function) {
  auto builder = OpBuilder::atBlockEnd(program.getBody());
  auto location = function.getLoc();
  SmallVector<mlir::Type> types(function.getArgumentTypes());
  const size_t given = types.size();
  for (mlir::Type result : function.getResultTypes())
    types.push_back(svm::viewType(0, result));
  auto kernel = builder.create<svm::KernelOp>(location, ("strata.caller." + function.getName()).str(),
                                              builder.getFunctionType(types, {}));
  for (size_t position = given; position < types.size(); ++position)
    svm::SvmDialect::accessAttr.set(kernel, static_cast<unsigned>(position), svm::Access::Write);
  Block& body = kernel.getBody().emplaceBlock();
  body.addArguments(types, SmallVector<mlir::Location>(types.size(), location));
  builder.setInsertionPointToStart(&body);
  auto call = builder.create<func::CallOp>(location, function, body.getArguments().take_front(given));
  for (auto [result, to] : llvm::zip(call.getResults(), body.getArguments().drop_front(given)))
    builder.create<memref::StoreOp>(location, result, to);
  builder.create<svm::ReturnOp>(location);
  return kernel;
}

} // namespace

std::unique_ptr<NativeKernels> NativeKernels::compile(ModuleOp program, Compiler& compiler, unsigned optimization,
                                                      DiagnosticEngine& diagnostics) {
  auto made = std::make_unique<NativeKernels>();
  Machine here = describeHost();
  const target::Target* target = target::targetOf(here, "", {}, diagnostics);
  if (!target)
    return nullptr;
  // What stands for them, and the names under which the interpreter asks for them.
  LogicalProgram alone{kernelProgram(program, [](svm::KernelOp kernel) { return kernel.getLlvm().has_value(); }),
                       {},
                       std::move(here),
                       target};
  std::vector<std::pair<std::string, std::string>> names;
  for (auto kernel : alone.module->getOps<svm::KernelOp>())
    names.emplace_back(kernel.getName(), entryOfKernel(kernel.getName()));
  if (!alone.module->getOps<svm::LLVMSourceOp>().empty())
    for (auto function : llvm::to_vector(alone.module->getOps<func::FuncOp>()))
      if (function.isExternal()) {
        svm::KernelOp caller = addCaller(*alone.module, function);
        addKernelEntry(*alone.module, caller);
        names.emplace_back(function.getName(), entryOfKernel(caller.getName()));
      }
  if (names.empty())
    return made;
  static const target::NativeFunctions none; // it is these that the target is to compile
  made->program_ = std::move(alone);
  made->artefact_ = compiler.compile(*made->program_, optimization, none);
  made->executable_ = made->artefact_ ? made->artefact_->load() : nullptr;
  if (!made->executable_)
    return nullptr;
  for (const auto& [name, entry] : names) {
    auto call = made->executable_->entry(entry);
    if (!call)
      return nullptr;
    made->functions_[name] = [call = std::move(call)](void** arguments) { call(arguments); };
  }
  return made;
}

} // namespace strata::driver
