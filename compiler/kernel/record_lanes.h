// Records in the lanes of vector registers: of records side by side all numbers are loaded at once and taken apart, or
// put together and stored at once.
#pragma once

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace strata::kernel {

/// Records that the lanes of a register reach, one of whose fields is loaded or stored. Lives as long as its builder
/// stays where it is.
class RecordLanes {
public:
  /// `block` is a field (REQUIRES: fieldsSideBySide(block) > 1), `first` the indices of the first lane's record.
  RecordLanes(mlir::OpBuilder& builder, mlir::Location place, unsigned lanes, mlir::Value block,
              mlir::ArrayRef<mlir::Value> first);

  /// The field's numbers. Masks have a lane's bit for each record; null: all are on. Lanes that are off are 0.
  mlir::Value load(mlir::Value mask);
  /// Stores the field's numbers, and touches no other field.
  void store(mlir::Value numbers, mlir::Value mask);
  /// Stores all fields, in the order of the record, each as a vector of numbers of one size.
  void storeWhole(mlir::ArrayRef<mlir::Value> fields, mlir::Value mask);

private:
  template <typename Op, typename... Arguments>
  Op make(Arguments&&... arguments) {
    return builder_.create<Op>(place_, std::forward<Arguments>(arguments)...);
  }
  mlir::Value index(int64_t value);
  mlir::Value nothing(mlir::Type type);
  mlir::VectorType numbersOf(mlir::Type number) const;
  mlir::Value shuffle(mlir::Value one, mlir::Value other, int64_t count, llvm::function_ref<int64_t(int64_t)> from);
  mlir::Value forNumbers(mlir::Value lanes);
  mlir::Value interleave(mlir::SmallVector<mlir::Value, 4> parts);

  mlir::OpBuilder& builder_;
  const mlir::Location place_;
  const int64_t lanes_;
  int64_t count_ = 0; // of numbers in a record
  int64_t own_ = 0;   // which of them the field is
  mlir::Type number_;
  mlir::Value numbers_; // a block that begins with the first lane's record
};

/// The stores of all numbers of records, by their order in one, of which the first stands at `store` and each other
/// right behind the one before it; empty where it is another one that comes next.
mlir::SmallVector<mlir::memref::StoreOp, 4> storesOfRecords(mlir::memref::StoreOp store);

} // namespace strata::kernel
