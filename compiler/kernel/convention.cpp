// Kernels as functions. What the program says about an argument (that it aliases no other, that it is only read, how it
// is aligned) goes with it as LLVM attributes.
#include "compiler/kernel/convention.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {

void addTypeConversions(TypeConverter& converter) {
  auto pointer = [](Type type) { return LLVM::LLVMPointerType::get(type.getContext()); };
  converter.addConversion([pointer](StreamType type) { return pointer(type); });
  converter.addConversion([pointer](TokenType type) { return pointer(type); });
  converter.addConversion([&converter](RecordType type) -> std::optional<Type> {
    SmallVector<Type> fields;
    for (Type field : type.getFieldTypes())
      fields.push_back(converter.convertType(field));
    return LLVM::LLVMStructType::getLiteral(type.getContext(), fields);
  });
  converter.addTypeAttributeConversion([](BaseMemRefType type, MemoryAttr) -> TypeConverter::AttributeConversionResult {
    return IntegerAttr::get(IntegerType::get(type.getContext(), 64), 0);
  });
}

LLVM::LLVMStructType descriptorType(MemRefType type) {
  auto* context = type.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto word = IntegerType::get(context, 64);
  SmallVector<Type> fields{pointer, pointer, word};
  if (type.getRank())
    fields.append(2, LLVM::LLVMArrayType::get(word, type.getRank()));
  return LLVM::LLVMStructType::getLiteral(context, fields);
}

SmallVector<Type> flattenType(Type type) {
  auto block = dyn_cast<MemRefType>(type);
  if (!block)
    return {type};
  SmallVector<Type> types{LLVM::LLVMPointerType::get(type.getContext())};
  types.append(2 * block.getRank(), IndexType::get(type.getContext()));
  return types;
}

namespace {

Value asIndex(OpBuilder& builder, Location location, Value word) {
  return builder.create<UnrealizedConversionCastOp>(location, builder.getIndexType(), word).getResult(0);
}

/// The LLVM type of an element, for address arithmetic.
Type elementInLlvm(Type element) {
  if (auto record = dyn_cast<RecordType>(element)) {
    SmallVector<Type> fields;
    for (Type field : record.getFieldTypes())
      fields.push_back(elementInLlvm(field));
    return LLVM::LLVMStructType::getLiteral(element.getContext(), fields);
  }
  return element.isIndex() ? IntegerType::get(element.getContext(), 64) : element;
}

} // namespace

SmallVector<Value> flatten(OpBuilder& builder, Location location, Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type)
    return {value};
  Value raw = builder.create<UnrealizedConversionCastOp>(location, descriptorType(type), value).getResult(0);
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value aligned = builder.create<LLVM::ExtractValueOp>(location, raw, ArrayRef<int64_t>{1});
  Value offset = builder.create<LLVM::ExtractValueOp>(location, raw, ArrayRef<int64_t>{2});
  Value first = builder.create<LLVM::GEPOp>(location, pointerType, elementInLlvm(type.getElementType()), aligned,
                                            ValueRange{offset});
  SmallVector<Value> values{first};
  for (int64_t field : {3, 4})
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      values.push_back(asIndex(
          builder, location, builder.create<LLVM::ExtractValueOp>(location, raw, ArrayRef<int64_t>{field, dimension})));
  return values;
}

Value describe(OpBuilder& builder, Location location, MemRefType type, Value pointer, ValueRange extents,
               ValueRange strides) {
  auto word = builder.getI64Type();
  auto toWord = [&](Value value) {
    return builder.create<UnrealizedConversionCastOp>(location, word, value).getResult(0);
  };
  SmallVector<int64_t> stated;
  int64_t offset = 0;
  if (failed(getStridesAndOffset(type, stated, offset)))
    stated.assign(type.getRank(), ShapedType::kDynamic);
  Value raw = builder.create<LLVM::UndefOp>(location, descriptorType(type));
  auto insert = [&](Value value, ArrayRef<int64_t> at) {
    raw = builder.create<LLVM::InsertValueOp>(location, raw, value, at);
  };
  insert(pointer, {0});
  insert(pointer, {1});
  insert(builder.create<LLVM::ConstantOp>(location, word, 0), {2});
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    insert(toWord(extents[dimension]), {3, dimension});
    Value stride = ShapedType::isDynamic(stated[dimension])
                       ? toWord(strides[dimension])
                       : builder.create<LLVM::ConstantOp>(location, word, stated[dimension]).getResult();
    insert(stride, {4, dimension});
  }
  return builder.create<UnrealizedConversionCastOp>(location, type, raw).getResult(0);
}

namespace {

/// How deep loops are nested in a kernel.
unsigned loopDepth(Operation* op) {
  unsigned deepest = 0;
  for (Region& region : op->getRegions())
    for (Block& block : region)
      for (Operation& inner : block)
        deepest = std::max(deepest, loopDepth(&inner));
  return deepest + isa<LoopLikeOpInterface>(op);
}

/// Whether an argument goes to the body in memory: what a record by value is to LLVM code that was not made here is for
/// those to say who made it.
bool isInMemory(KernelOp kernel, Type type) {
  return kernel.getLlvm() && isa<RecordType>(type);
}

/// The name of the function that a kernel's body is, or becomes.
std::string functionOf(KernelOp kernel) {
  switch (kernel.kind()) {
  case KernelKind::Structured:
  case KernelKind::Equations: // lowered to loops by now
    return kernel.getName().str();
  case KernelKind::Llvm:
    return kernel.getLlvm()->getLeafReference().getValue().str();
  case KernelKind::BlackBox:
    return kernel.getBlackbox()->str();
  }
  return "";
}

/// The function of a kernel, under a name; a declaration when the body is elsewhere.
void lowerKernel(KernelOp kernel, StringRef name) {
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  SmallVector<Type> types;
  SmallVector<unsigned> starts;
  for (Type type : kernel.getArgumentTypes()) {
    starts.push_back(types.size());
    if (isInMemory(kernel, type))
      types.push_back(LLVM::LLVMPointerType::get(builder.getContext()));
    else
      llvm::append_range(types, flattenType(type));
  }
  auto function = builder.create<func::FuncOp>(loc, name, builder.getFunctionType(types, {}));
  function.setPrivate();
  for (auto [position, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (auto block = dyn_cast<MemRefType>(type)) {
      // What others write while the kernel runs must be loaded again after every pause and fence, and what another
      // argument writes after every store.
      const bool isApart = !kernel.isShared() && !kernel.getMayAlias();
      if (isApart)
        function.setArgAttr(starts[position], "llvm.noalias", builder.getUnitAttr());
      function.setArgAttr(
          starts[position], "llvm.align",
          builder.getI64IntegerAttr(static_cast<int64_t>(RecordType::alignmentInBytes(block.getElementType()))));
      if (kernel.access(position) == svm::Access::Read && isApart)
        function.setArgAttr(starts[position], "llvm.readonly", builder.getUnitAttr());
    }
  if (kernel.isStructured()) {
    // A nest of loops gets the registers to itself; what a call costs does not show beside it. Smaller kernels become
    // part of the loops around.
    if (loopDepth(kernel) > 1)
      function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
    Block* entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    Block& body = kernel.getBody().front();
    for (auto [position, argument] : llvm::enumerate(body.getArguments())) {
      auto block = dyn_cast<MemRefType>(argument.getType());
      Value given = entry->getArgument(starts[position]);
      if (block) {
        auto extents = entry->getArguments().slice(starts[position] + 1, block.getRank());
        auto strides = entry->getArguments().slice(starts[position] + 1 + block.getRank(), block.getRank());
        given = describe(builder, argument.getLoc(), block, given, ValueRange(extents), ValueRange(strides));
      }
      argument.replaceAllUsesWith(given);
    }
    entry->getOperations().splice(entry->end(), body.getOperations());
    auto last = cast<ReturnOp>(entry->getTerminator());
    builder.setInsertionPoint(last);
    builder.create<func::ReturnOp>(last.getLoc());
    last.erase();
  }
}

/// A function of the kernel convention around LLVM code that takes records in memory. Its name.
std::string passRecords(KernelOp kernel, const std::string& callee) {
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes())
    llvm::append_range(types, flattenType(type));
  auto function = builder.create<func::FuncOp>(loc, callee + ".records", builder.getFunctionType(types, {}));
  function.setPrivate();
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value one = builder.create<LLVM::ConstantOp>(loc, builder.getI64Type(), 1);
  SmallVector<Value> arguments;
  for (Value argument : function.getArguments()) {
    if (isInMemory(kernel, argument.getType())) {
      Type type = elementInLlvm(argument.getType());
      Value value = builder.create<UnrealizedConversionCastOp>(loc, type, argument).getResult(0);
      argument = builder.create<LLVM::AllocaOp>(loc, LLVM::LLVMPointerType::get(builder.getContext()), type, one);
      builder.create<LLVM::StoreOp>(loc, value, argument);
    }
    arguments.push_back(argument);
  }
  builder.create<func::CallOp>(loc, callee, TypeRange(), arguments);
  builder.create<func::ReturnOp>(loc);
  return function.getName().str();
}

} // namespace

void lowerKernels(ModuleOp program) {
  SmallVector<KernelOp> kernels(program.getOps<KernelOp>());
  llvm::StringMap<std::string> callees;
  for (KernelOp kernel : kernels) {
    std::string name = kernel.getName().str();
    const std::string function = functionOf(kernel);
    kernel.setName("kernel of " + name); // the function takes the name
    if (!program.lookupSymbol<func::FuncOp>(function))
      lowerKernel(kernel, function);
    const bool hasRecords =
        llvm::any_of(kernel.getArgumentTypes(), [&](Type type) { return isInMemory(kernel, type); });
    callees[name] = hasRecords ? passRecords(kernel, function) : function;
  }
  SmallVector<RunOp> runs;
  program.walk([&](RunOp run) { runs.push_back(run); });
  for (RunOp run : runs) {
    if (run.getToken() || !run.getAfter().empty()) {
      SvmDialect::calleeAttr.set(run, FlatSymbolRefAttr::get(program.getContext(), callees[run.getKernel()]));
      continue;
    }
    OpBuilder builder(run);
    SmallVector<Value> arguments;
    for (Value argument : run.getArguments())
      llvm::append_range(arguments, flatten(builder, run.getLoc(), argument));
    auto call = builder.create<func::CallOp>(run.getLoc(), callees[run.getKernel()], TypeRange(), arguments);
    if (Attribute dynamic = run->getAttr(SvmDialect::dynamicAttr))
      call->setAttr(SvmDialect::dynamicAttr, dynamic);
    run.erase();
  }
  for (KernelOp kernel : kernels)
    kernel.erase();
}

} // namespace strata::kernel
