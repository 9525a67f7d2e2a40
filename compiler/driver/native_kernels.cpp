// A copy of the program keeps its LLVM sources, the kernels that call into them and the functions that it declares, and
// gets an entry point for each, which runs it; the copy then goes the way of any program, placed on this computer
// without a mapping. A function's result is what its entry point writes into a last argument.
#include "compiler/driver/native_kernels.h"

#include "compiler/target/registry/registry.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace strata::driver {

namespace {

std::string entryOf(StringRef kernel) {
  return ("strata.native." + kernel).str();
}

/// An entry point that runs a kernel on its own arguments.
void addEntry(ModuleOp program, svm::KernelOp kernel) {
  auto builder = OpBuilder::atBlockEnd(program.getBody());
  auto location = kernel.getLoc();
  auto function = builder.create<func::FuncOp>(location, entryOf(kernel.getName()),
                                               builder.getFunctionType(kernel.getArgumentTypes(), {}));
  function->setAttr(svm::SvmDialect::entryAttr, builder.getUnitAttr());
  builder.setInsertionPointToStart(function.addEntryBlock());
  builder.create<svm::RunOp>(location, mlir::Type(), FlatSymbolRefAttr::get(kernel.getNameAttr()),
                             function.getArguments(), ValueRange(), FlatSymbolRefAttr());
  builder.create<func::ReturnOp>(location);
}

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
    kernel.setArgAttr(static_cast<unsigned>(position), svm::SvmDialect::accessAttr, builder.getStringAttr("write"));
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
  LogicalProgram alone{OwningOpRef<ModuleOp>(program.clone()), {}, std::move(here), target};
  SmallVector<Operation*> others;
  // What stands for them, and the names under which the interpreter asks for them.
  SmallVector<svm::KernelOp> kernels;
  SmallVector<func::FuncOp> functions;
  std::vector<std::pair<std::string, std::string>> names;
  const bool hasSource = !alone.module->getOps<svm::LLVMSourceOp>().empty();
  for (Operation& op : *alone.module->getBody()) {
    auto kernel = dyn_cast<svm::KernelOp>(op);
    auto function = dyn_cast<func::FuncOp>(op);
    if (kernel && kernel.getLlvm())
      kernels.push_back(kernel);
    else if (function && function.isExternal() && hasSource)
      functions.push_back(function);
    else if (!isa<svm::LLVMSourceOp>(op))
      others.push_back(&op);
  }
  if (kernels.empty() && functions.empty())
    return made;
  for (Operation* op : others)
    op->erase();
  for (svm::KernelOp kernel : kernels)
    names.emplace_back(kernel.getName(), entryOf(kernel.getName()));
  for (func::FuncOp function : functions) {
    kernels.push_back(addCaller(*alone.module, function));
    names.emplace_back(function.getName(), entryOf(kernels.back().getName()));
  }
  for (svm::KernelOp kernel : kernels)
    addEntry(*alone.module, kernel);
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
