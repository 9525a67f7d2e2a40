// Blocks become pointers, extents and strides; an index out of range is found by the runtime, which is told what to
// say.
#include "compiler/target/host/gather.h"

#include "compiler/kernel/convention.h"
#include "compiler/transform/guard_overlaps.h"
#include "runtime/core/gather.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::host {

void nameIndexedMoves(ModuleOp program) {
  program.walk([](Operation* op) {
    std::optional<Transfer> transfer = transferOf(op);
    if (transfer && transfer->indices)
      SvmDialect::namesAttr.set(op, Builder(op->getContext())
                                        .getStrArrayAttr({transform::nameOfBlock(transfer->indexed()),
                                                          transform::nameOfBlock(transfer->indices)}));
  });
}

void lowerIndexedMove(const Transfer& transfer, const Machine& machine, RuntimeCalls& calls, Value way) {
  OpBuilder builder(transfer.op);
  const mlir::Location loc = transfer.op->getLoc();
  const auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto constant = [&](int64_t value, unsigned width) -> Value {
    return builder.create<LLVM::ConstantOp>(loc, builder.getIntegerType(width), value);
  };
  auto word = [&](Value value) -> Value {
    return builder.create<UnrealizedConversionCastOp>(loc, builder.getI64Type(), value).getResult(0);
  };
  auto words = [&](ArrayRef<Value> values) -> Value {
    Value slot = stackSlot(builder, loc, LLVM::LLVMArrayType::get(builder.getI64Type(), values.size()));
    for (auto [position, value] : llvm::enumerate(values)) {
      Value at = builder.create<LLVM::GEPOp>(loc, pointer, builder.getI64Type(), slot,
                                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
      builder.create<LLVM::StoreOp>(loc, word(value), at);
    }
    return slot;
  };
  const int64_t rank = transfer.source.getType().getRank();
  auto bytesOf = [](Value block) {
    return static_cast<int64_t>(RecordType::sizeInBytes(cast<MemRefType>(block.getType()).getElementType()));
  };
  // Pointer, extents, strides.
  const SmallVector<Value> source = kernel::flatten(builder, loc, transfer.source),
                           destination = kernel::flatten(builder, loc, transfer.destination),
                           indices = kernel::flatten(builder, loc, transfer.indices);
  const ArrayRef<Value> from(source), to(destination);
  std::string array = "a block", list = "a block";
  if (ArrayAttr names = SvmDialect::namesAttr.of(transfer.op); names && names.size() == 2) {
    array = cast<StringAttr>(names[0]).str();
    list = cast<StringAttr>(names[1]).str();
  }
  Value check = calls.check(
      builder, loc, "index-out-of-range",
      "index {0}, number {1} of '" + list + "', is outside dimension 0 of '" + array + "', which has {2} elements", "");
  const bool isAddressedAll = llvm::all_of(ArrayRef<Value>{transfer.source, transfer.destination, transfer.indices},
                                           [&](Value block) { return isAddressed(block.getType(), machine); });
  const int32_t how = (transfer.scatters() ? strata_scatters : 0) | (isAddressedAll ? 0 : strata_gathers_windows);
  calls.call(builder, loc, "strata_gather", {},
             {way ? way : calls.null(builder, loc), check, to[0], words(to.slice(1 + rank, rank)), from[0],
              words(from.slice(1 + rank, rank)), words((transfer.scatters() ? from : to).slice(1, rank)),
              constant(rank, 32), constant(bytesOf(transfer.source), 64), indices[0], word(indices[2]),
              constant(bytesOf(transfer.indices), 32), word((transfer.scatters() ? to : from)[1]), constant(how, 32)});
  transfer.op->erase();
}

} // namespace strata::host
