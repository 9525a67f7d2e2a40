// Layouts become a structure on the stack for the runtime to copy. Where a part of a distributed block is, the runtime
// tells as the program runs.
#include "compiler/target/host/windows.h"

#include "compiler/kernel/convention.h"
#include "compiler/mapping/place.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::host {

using mlir::Location;

static machine::MemoryId underneath(const Machine& machine, machine::MemoryId id) {
  for (size_t step = 0; step < machine.memories.size() && machine[id].isVirtual(); ++step)
    id = machine[id].over;
  return id;
}

bool isDistributed(BlockOp block, const Machine& machine) {
  machine::MemoryId id = machine.memory(memoryOf(block.getBlock().getType()).str());
  return id.valid() && machine[id].isVirtual() && machine.isStore(underneath(machine, id));
}

Value acquireDistributed(OpBuilder& builder, BlockOp block, const Machine& machine, RuntimeCalls& calls) {
  Location loc = block.getLoc();
  auto type = block.getBlock().getType();
  machine::MemoryId id = machine.memory(memoryOf(type).str()), under = underneath(machine, id);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto constant = [&](int64_t value, unsigned width) -> Value {
    return builder.create<LLVM::ConstantOp>(loc, builder.getIntegerType(width), value);
  };
  auto put = [&](Value slot, Type structure, ArrayRef<Value> values) {
    for (auto [position, value] : llvm::enumerate(values)) {
      Value at = builder.create<LLVM::GEPOp>(loc, pointer, structure, slot,
                                             ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(position)});
      builder.create<LLVM::StoreOp>(loc, value, at);
    }
  };
  auto words = [&](ArrayRef<Value> values) -> Value {
    if (values.empty())
      return calls.null(builder, loc);
    auto list = LLVM::LLVMArrayType::get(builder.getI64Type(), values.size());
    Value slot = stackSlot(builder, loc, list);
    put(slot, list, values);
    return slot;
  };
  auto numbers = [&](StringRef name) {
    SmallVector<Value> values;
    if (auto list = block->getAttrOfType<DenseI64ArrayAttr>(name))
      for (int64_t each : list.asArrayRef())
        values.push_back(constant(each, 64));
    return words(values);
  };
  SmallVector<Value> extents;
  for (Value extent : block.getExtents())
    extents.push_back(builder.create<UnrealizedConversionCastOp>(loc, builder.getI64Type(), extent).getResult(0));
  auto counter = [&](StringRef text) {
    return SvmDialect::countedAttr.isOn(block) ? calls.text(builder, loc, (text + machine[under].name).str())
                                               : calls.null(builder, loc);
  };
  auto stacked = svm::SvmDialect::stackAttr.of(block);
  const int64_t stack = stacked ? stacked.getInt() : -1;
  const SmallVector<Value> fields{constant(id.value, 32),
                                  constant(under.value, 32),
                                  constant(static_cast<int64_t>(block.getAddress().value_or(0)), 64),
                                  constant(static_cast<int64_t>(RecordType::sizeInBytes(type.getElementType())), 64),
                                  constant(type.getRank(), 32),
                                  words(extents),
                                  numbers(SvmDialect::gridAttr),
                                  numbers(SvmDialect::blockSizeAttr),
                                  counter("bytes within "),
                                  counter("bytes across "),
                                  constant(stack, 64)};
  SmallVector<Type> types;
  for (Value field : fields)
    types.push_back(field.getType());
  auto structure = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  Value slot = stackSlot(builder, loc, structure);
  put(slot, structure, fields);
  return calls.call(builder, loc, "strata_window_acquire_distributed", pointer,
                    {slot, calls.text(builder, loc, block.getLabel().value_or("a block"))});
}

void lowerInPlace(InPlaceOp op, RuntimeCalls& calls) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = op.getHere().getType();
  const auto rank = static_cast<size_t>(type.getRank());
  const Type word = builder.getI64Type();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  const SmallVector<Value> block = kernel::flatten(builder, loc, op.getBlock()),
                           part = kernel::flatten(builder, loc, op.getPart());
  const auto slotOf = [&](size_t words) {
    return stackSlot(builder, loc, LLVM::LLVMArrayType::get(word, std::max<size_t>(words, 1)));
  };
  const auto at = [&](Value slot, size_t position) -> Value {
    return builder.create<LLVM::GEPOp>(loc, pointer, word, slot,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
  };
  const auto cast = [&](Type to, Value value) {
    return builder.create<UnrealizedConversionCastOp>(loc, to, value).getResult(0);
  };
  const auto list = [&](size_t first) {
    Value slot = slotOf(rank);
    for (size_t d = 0; d < rank; ++d)
      builder.create<LLVM::StoreOp>(loc, cast(word, part[first + d]), at(slot, d));
    return slot;
  };
  Value found = slotOf(rank);
  Value data = calls.call(builder, loc, "strata_window_in_place", pointer,
                          {part[0], list(1 + rank), list(1),
                           builder.create<LLVM::ConstantOp>(loc, builder.getI32Type(), static_cast<int64_t>(rank)),
                           builder.create<LLVM::ConstantOp>(
                               loc, word, static_cast<int64_t>(RecordType::sizeInBytes(type.getElementType()))),
                           found});
  Value isFound = builder.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::ne, data, calls.null(builder, loc));
  SmallVector<Value> strides;
  for (size_t d = 0; d < rank; ++d) {
    Value there = cast(builder.getIndexType(), builder.create<LLVM::LoadOp>(loc, word, at(found, d)));
    strides.push_back(builder.create<arith::SelectOp>(loc, isFound, there, block[1 + rank + d]));
  }
  data = builder.create<LLVM::SelectOp>(loc, isFound, data, block[0]);
  Value isApart =
      builder.create<LLVM::XOrOp>(loc, isFound, builder.create<LLVM::ConstantOp>(loc, builder.getI1Type(), 1));
  op.getIsApart().replaceAllUsesWith(isApart);
  op.getHere().replaceAllUsesWith(
      kernel::describe(builder, loc, type, data, ArrayRef<Value>(block).slice(1, rank), strides));
  op.erase();
}

} // namespace strata::host
