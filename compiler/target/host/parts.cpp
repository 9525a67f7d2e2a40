// The function of a kernel that another target has compiled follows the kernel convention like any other. In the code,
// what it calls is a symbol; its address is known when the code is loaded.
#include "compiler/target/host/parts.h"

#include "compiler/kernel/convention.h"
#include "compiler/target/host/storage.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::host {
namespace {

/// What stands for a kernel on a processor of another target.
struct Names {
  Names(StringRef processor, StringRef kernel)
      : function(("strata.part." + processor + "." + kernel).str()), code(function + ".code") {}
  std::string function; // that packs the arguments
  std::string code;     // that it calls
};

constexpr const char* callSymbol = "strata_call_part";

using Code = target::NativeFunctions::mapped_type;

void callPart(const Code* code, void** arguments) {
  (*code)(arguments);
}

LLVM::LLVMFuncOp declareCall(ModuleOp program) {
  if (auto known = program.lookupSymbol<LLVM::LLVMFuncOp>(callSymbol))
    return known;
  OpBuilder builder(program.getContext());
  builder.setInsertionPointToStart(program.getBody());
  auto pointer = LLVM::LLVMPointerType::get(program.getContext());
  return builder.create<LLVM::LLVMFuncOp>(
      program.getLoc(), callSymbol,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(program.getContext()), {pointer, pointer}));
}

/// A function of the kernel convention: of a block its pointer, extents and strides become words in an array, all else
/// is stored, and the code gets a list of addresses (target::NativeFunctions).
void addFunction(ModuleOp program, KernelOp kernel, const Names& names) {
  OpBuilder builder(kernel);
  const mlir::Location loc = kernel.getLoc();
  auto* context = program.getContext();
  const Type pointer = LLVM::LLVMPointerType::get(context), word = builder.getI64Type();
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes())
    llvm::append_range(types, kernel::flattenType(type));
  auto function = builder.create<func::FuncOp>(loc, names.function, builder.getFunctionType(types, {}));
  function.setPrivate();
  builder.create<LLVM::GlobalOp>(loc, builder.getI8Type(), /*isConstant=*/false, LLVM::Linkage::External, names.code,
                                 Attribute());
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value one = builder.create<LLVM::ConstantOp>(loc, word, 1);
  const auto room = [&](Type type) -> Value { return builder.create<LLVM::AllocaOp>(loc, pointer, type, one); };
  const auto put = [&](Value value, Type element, Value list, size_t position) {
    Value at = builder.create<LLVM::GEPOp>(loc, pointer, element, list,
                                           ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
    builder.create<LLVM::StoreOp>(loc, value, at);
  };
  const auto raw = [&](Value value, Type type) {
    return value.getType() == type ? value : builder.create<UnrealizedConversionCastOp>(loc, type, value).getResult(0);
  };
  const size_t count = kernel.getArgumentTypes().size();
  Value list = room(LLVM::LLVMArrayType::get(pointer, std::max<size_t>(count, 1)));
  auto given = function.getArguments().begin();
  for (auto [position, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    const size_t words = kernel::flattenType(type).size();
    Value packed;
    if (isa<MemRefType>(type)) {
      packed = room(LLVM::LLVMArrayType::get(word, words));
      for (size_t at = 0; at < words; ++at, ++given)
        put(raw(*given, at ? word : pointer), word, packed, at);
    } else {
      const Type stored = storedType(type);
      packed = room(stored);
      put(raw(*given++, stored), stored, packed, 0);
    }
    put(packed, pointer, list, position);
  }
  Value code = builder.create<LLVM::AddressOfOp>(loc, pointer, names.code);
  builder.create<LLVM::CallOp>(loc, declareCall(program), ValueRange{code, list});
  builder.create<func::ReturnOp>(loc);
}

} // namespace

void callParts(target::Program program) {
  if (program.parts.empty())
    return;
  llvm::StringMap<KernelOp> made;
  SmallVector<RunOp> runs;
  program.module.walk([&](RunOp run) { runs.push_back(run); });
  for (RunOp run : runs) {
    const target::Part* part = run.getProcessor() ? program.part(*run.getProcessor()) : nullptr;
    if (!part || !part->kernels.contains(run.getKernel().str()))
      continue;
    auto kernel = program.module.lookupSymbol<KernelOp>(run.getKernel());
    const Names names(part->processor, run.getKernel());
    KernelOp& own = made[names.function];
    if (!own) {
      OpBuilder builder(kernel);
      own = builder.create<KernelOp>(kernel.getLoc(), "kernel." + names.function, kernel.getFunctionType());
      own.setArgAttrsAttr(kernel.getArgAttrsAttr());
      own.setMayAlias(kernel.getMayAlias());
      own.setBlackboxAttr(builder.getStringAttr(names.function));
      addFunction(program.module, own, names);
    }
    run.setKernel(own.getName());
  }
}

std::vector<target::Symbol> symbolsOfParts(ArrayRef<target::Part> parts) {
  std::vector<target::Symbol> symbols;
  for (const target::Part& part : parts)
    for (const auto& [kernel, code] : part.kernels)
      symbols.push_back({Names(part.processor, kernel).code, const_cast<Code*>(&code)});
  if (!symbols.empty())
    symbols.push_back({callSymbol, reinterpret_cast<void*>(&callPart)});
  return symbols;
}

} // namespace strata::host
