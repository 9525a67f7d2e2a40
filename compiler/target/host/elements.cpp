// Single elements that control code loads from and stores to memories that processors do not address: each access
// becomes a move of that element from or to a place on the stack.
#include "compiler/target/host/storage.h"

#include "compiler/kernel/convention.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::host {

using mlir::Location;

bool isAddressed(Type block, const Machine& machine) {
  machine::MemoryId id = machine.memory(memoryOf(block).str());
  return !id.valid() || machine.isAddressed(id);
}

namespace {

/// A block of no dimensions that is one element of another.
Value elementOf(OpBuilder& builder, Location loc, Value block, ValueRange indices) {
  auto type = cast<MemRefType>(block.getType());
  if (type.getRank() == 0)
    return block;
  SmallVector<OpFoldResult> offsets(indices.begin(), indices.end());
  SmallVector<OpFoldResult> ones(indices.size(), builder.getIndexAttr(1));
  auto view =
      cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(ArrayRef<int64_t>(), type, offsets, ones, ones));
  return builder.create<memref::SubViewOp>(loc, view, block, offsets, ones, ones);
}

/// A block of no dimensions on the stack.
Value temporary(OpBuilder& builder, Location loc, Type element) {
  int64_t words = (RecordType::sizeInBytes(element) + 7) / 8;
  Value slot = stackSlot(builder, loc, LLVM::LLVMArrayType::get(builder.getI64Type(), std::max<int64_t>(1, words)));
  return kernel::describe(builder, loc, MemRefType::get({}, element), slot, {}, {});
}

} // namespace

void moveElements(ModuleOp program, const Machine& machine) {
  SmallVector<Operation*> accesses;
  program.walk([&](Operation* op) {
    if (auto load = dyn_cast<memref::LoadOp>(op); load && !isAddressed(load.getMemRefType(), machine))
      accesses.push_back(op);
    else if (auto store = dyn_cast<memref::StoreOp>(op); store && !isAddressed(store.getMemRefType(), machine))
      accesses.push_back(op);
  });
  for (Operation* op : accesses) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      Value place = temporary(builder, loc, load.getType());
      builder.create<MoveOp>(loc, Type(), elementOf(builder, loc, load.getMemref(), load.getIndices()), place,
                             ValueRange());
      load.replaceAllUsesWith(builder.create<memref::LoadOp>(loc, place).getResult());
    } else {
      auto store = cast<memref::StoreOp>(op);
      Value place = temporary(builder, loc, store.getValueToStore().getType());
      builder.create<memref::StoreOp>(loc, store.getValueToStore(), place);
      builder.create<MoveOp>(loc, Type(), place, elementOf(builder, loc, store.getMemref(), store.getIndices()),
                             ValueRange());
    }
    op->erase();
  }
}

} // namespace strata::host
