// A copy of the program keeps its LLVM sources, the kernels that call into them and the functions that it declares, and
// gets an entry point for each, which runs it; the copy then goes the way of any program, placed on this computer
// without a mapping. A function's result is what its entry point writes into a last argument.
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
  for (const auto& [name, entry] : names) {
    auto* function = reinterpret_cast<void (*)(void**)>(made->engine_->lookup(host::packedName(entry), diagnostics));
    if (!function)
      return nullptr;
    made->stands_[name] = [function](const std::vector<interpret::Argument>& arguments, std::string&) {
      strata_machine(table.get());
      return callOn(function, arguments);
    };
  }
  return made;
}

} // namespace strata::driver
