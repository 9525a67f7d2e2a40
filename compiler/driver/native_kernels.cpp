// A copy of the program keeps its LLVM sources and the kernels that call into them, and gets an entry point for each,
// which runs it; the copy then goes the way of any program, placed on this computer without a mapping.
#include "compiler/driver/native_kernels.h"

#include "compiler/driver/run.h"
#include "compiler/target/host/lower.h"
#include "runtime/abi.h"

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

/// The code under an address, called on the interpreter's blocks.
bool callOn(void (*code)(void**), const std::vector<interpret::Argument>& arguments) {
  std::vector<std::vector<int64_t>> words; // of each block: its address, extents, strides
  std::vector<uint64_t> scalars;
  words.reserve(arguments.size());
  scalars.reserve(arguments.size());
  std::vector<void*> packed;
  for (const interpret::Argument& argument : arguments) {
    if (argument.isScalar) {
      packed.push_back(&scalars.emplace_back(argument.scalar));
    } else if (argument.isRecord) {
      packed.push_back(argument.data);
    } else {
      std::vector<int64_t>& block = words.emplace_back(1, reinterpret_cast<int64_t>(argument.data));
      block.insert(block.end(), argument.extents.begin(), argument.extents.end());
      block.insert(block.end(), argument.strides.begin(), argument.strides.end());
      packed.push_back(block.data());
    }
  }
  code(packed.data());
  return true;
}

} // namespace

std::unique_ptr<NativeKernels> NativeKernels::compile(ModuleOp program, Compiler& compiler, unsigned optimization,
                                                      DiagnosticEngine& diagnostics) {
  auto made = std::make_unique<NativeKernels>();
  LogicalProgram alone{OwningOpRef<ModuleOp>(program.clone()), {}, describeHost()};
  SmallVector<Operation*> others;
  SmallVector<svm::KernelOp> kernels;
  for (Operation& op : *alone.module->getBody()) {
    auto kernel = dyn_cast<svm::KernelOp>(op);
    if (kernel && kernel.getLlvm())
      kernels.push_back(kernel);
    else if (!isa<svm::LLVMSourceOp>(op))
      others.push_back(&op);
  }
  if (kernels.empty())
    return made;
  for (Operation* op : others)
    op->erase();
  for (svm::KernelOp kernel : kernels)
    addEntry(*alone.module, kernel);
  static MachineTable table(alone.machine);
  llvm::LLVMContext context;
  if (!compiler.place(alone) || !compiler.schedule(alone))
    return nullptr;
  auto code = compiler.lower(alone, context);
  const host::CodeOptions native{"", optimization};
  if (!code || !host::optimize(*code, native, diagnostics))
    return nullptr;
  std::string object = host::emit(*code, native, /*assembly=*/false, diagnostics);
  made->engine_ = object.empty() ? nullptr : host::Engine::create(object, diagnostics);
  if (!made->engine_)
    return nullptr;
  for (svm::KernelOp kernel : program.getOps<svm::KernelOp>()) {
    if (!kernel.getLlvm())
      continue;
    auto* function = reinterpret_cast<void (*)(void**)>(
        made->engine_->lookup(host::packedName(entryOf(kernel.getName())), diagnostics));
    if (!function)
      return nullptr;
    made->stands_[kernel.getName().str()] = [function](const std::vector<interpret::Argument>& arguments,
                                                       std::string&) {
      strata_machine(table.get());
      return callOn(function, arguments);
    };
  }
  return made;
}

} // namespace strata::driver
