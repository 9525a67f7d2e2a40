// Storage, flags and guarded lists.
#include "compiler/cfamily/lower/lower_control.h"

namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::cfamily {

using mlir::Value;

Value ControlLowering::allocate(mlir::Type type, llvm::ArrayRef<int64_t> extents) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(allocations_);
  return make<memref::AllocaOp>(mlir::MemRefType::get(extents, type));
}

Value ControlLowering::load(Value storage) {
  return make<memref::LoadOp>(storage);
}

void ControlLowering::store(Value value, Value storage) {
  make<memref::StoreOp>(value, storage, mlir::ValueRange());
}

Value ControlLowering::flag(bool initial) {
  Value storage = allocate(builder_.getI1Type());
  store(truth(initial), storage);
  return storage;
}

Value ControlLowering::noneSet(llvm::ArrayRef<Value> flags) {
  Value none;
  for (Value each : flags)
    if (each) {
      Value clear = inverse(load(each));
      none = none ? both(none, clear) : clear;
    }
  return none ? none : truth(true);
}

void ControlLowering::FlatList::enter(Value holds) {
  auto rest = lowering_.make<scf::IfOp>(holds, /*withElseRegion=*/false);
  outside_ = lowering_.builder_.saveInsertionPoint();
  lowering_.builder_.setInsertionPointToStart(rest.thenBlock());
}

} // namespace strata::cfamily
