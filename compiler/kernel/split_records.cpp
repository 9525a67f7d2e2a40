// Records become their fields, each of which is loaded, stored and kept by itself. Of a field that a store leaves as it
// was loaded nothing is stored. From the beginning of a kernel to its end, so that each record that is met is one that
// was made of numbers, but for those that loops and choices hand on. See nests.h.
//
// Source: scalar replacement of aggregates, Muchnick 1997, chapter 12.2.
#include "compiler/kernel/nests.h"

#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

using Path = SmallVector<int64_t, 2>; // to a number in a record

/// The paths to all numbers of a record, in order.
void addPaths(RecordType record, Path& path, SmallVectorImpl<Path>& paths) {
  for (auto [number, type] : llvm::enumerate(record.getFieldTypes())) {
    path.push_back(static_cast<int64_t>(number));
    if (auto inner = dyn_cast<RecordType>(type))
      addPaths(inner, path, paths);
    else
      paths.push_back(path);
    path.pop_back();
  }
}

SmallVector<Path> pathsOf(Type record) {
  SmallVector<Path> paths;
  Path path;
  addPaths(cast<RecordType>(record), path, paths);
  return paths;
}

/// A number in a record, or a record in it: what the record was made from, where that is known.
Value numberOf(OpBuilder& builder, mlir::Location place, Value record, ArrayRef<int64_t> path) {
  for (const int64_t position : path) {
    if (auto made = record.getDefiningOp<RecordOp>())
      record = made.getFields()[static_cast<size_t>(position)];
    else
      record = builder.create<FieldOp>(place, cast<RecordType>(record.getType()).getFieldTypes()[position], record,
                                       position);
  }
  return record;
}

class RecordSplitter {
public:
  explicit RecordSplitter(KernelOp kernel) : kernel_(kernel) {}

  void run() {
    SmallVector<Operation*> all;
    kernel_.walk<WalkOrder::PreOrder>([&](Operation* op) { all.push_back(op); });
    for (Operation* op : all)
      if (auto load = dyn_cast<memref::LoadOp>(op))
        split(load);
      else if (auto store = dyn_cast<memref::StoreOp>(op))
        split(store);
      else if (auto with = dyn_cast<WithFieldOp>(op))
        split(with);
      else if (auto choice = dyn_cast<arith::SelectOp>(op))
        split(choice);
      else if (auto field = dyn_cast<FieldOp>(op))
        split(field);
    // What uses something stands behind it.
    all.clear();
    kernel_.walk<WalkOrder::PreOrder>([&](Operation* op) { all.push_back(op); });
    for (Operation* op : llvm::reverse(all))
      if (isa<RecordOp, WithFieldOp, FieldOp, FieldsOp, arith::SelectOp, memref::LoadOp>(op) && isOpTriviallyDead(op))
        op->erase();
    for (const auto& [block, fields] : fields_)
      if (auto array = block.getDefiningOp<memref::AllocaOp>(); array && array->use_empty())
        array.erase();
  }

private:
  /// The fields of a block's records, as blocks; empty where it has other elements, or fields with no place for a
  /// number.
  ArrayRef<Value> fieldsOf(Value block) {
    const auto type = cast<MemRefType>(block.getType());
    if (!isa<RecordType>(type.getElementType()))
      return {};
    const auto known = fields_.find(block);
    if (known != fields_.end())
      return known->second;
    SmallVector<Value>& fields = fields_[block];
    const SmallVector<Path> paths = pathsOf(type.getElementType());
    if (!llvm::all_of(paths, [&](const Path& path) { return FieldsOp::typeOf(type, path) != MemRefType(); }))
      return {};
    OpBuilder builder(block.getContext());
    builder.setInsertionPointAfterValue(block);
    auto array = block.getDefiningOp<memref::AllocaOp>();
    const bool isOwn = array && type.getLayout().isIdentity() && llvm::all_of(array->getUsers(), [&](Operation* user) {
                         return isa<memref::LoadOp, memref::StoreOp>(user);
                       });
    for (const Path& path : paths) {
      const MemRefType field = FieldsOp::typeOf(type, path);
      if (isOwn)
        fields.push_back(
            builder.create<memref::AllocaOp>(array.getLoc(),
                                             MemRefType::get(type.getShape(), field.getElementType(),
                                                             MemRefLayoutAttrInterface(), type.getMemorySpace()),
                                             array.getDynamicSizes()));
      else
        fields.push_back(builder.create<FieldsOp>(block.getLoc(), field, block, path));
    }
    return fields;
  }

  void split(memref::LoadOp load) {
    const ArrayRef<Value> fields = fieldsOf(load.getMemRef());
    if (fields.empty())
      return;
    size_t next = 0;
    replace(load, [&](OpBuilder& builder, const Path&) -> Value {
      return builder.create<memref::LoadOp>(load.getLoc(), fields[next++], load.getIndices());
    });
  }

  /// A record of the first of some numbers, which are taken from them.
  static Value recordOf(OpBuilder& builder, mlir::Location place, RecordType type, ArrayRef<Value>& numbers) {
    SmallVector<Value> fields;
    for (Type field : type.getFieldTypes()) {
      if (auto inner = dyn_cast<RecordType>(field)) {
        fields.push_back(recordOf(builder, place, inner, numbers));
      } else {
        fields.push_back(numbers.front());
        numbers = numbers.drop_front();
      }
    }
    return builder.create<RecordOp>(place, type, fields);
  }

  void split(memref::StoreOp store) {
    const ArrayRef<Value> fields = fieldsOf(store.getMemRef());
    if (fields.empty())
      return;
    OpBuilder builder(store);
    SmallVector<Value> numbers;
    for (const Path& path : pathsOf(store.getValue().getType()))
      numbers.push_back(numberOf(builder, store.getLoc(), store.getValue(), path));
    for (auto [field, number] : llvm::zip_equal(fields, numbers))
      if (!isThere(store, field, number, fields))
        builder.create<memref::StoreOp>(store.getLoc(), number, field, store.getIndices());
    store.erase();
  }

  /// Whether a field has the number already, in front of a store: it was loaded from there, and no operation since then
  /// has written there.
  static bool isThere(memref::StoreOp store, Value field, Value number, ArrayRef<Value> fields) {
    auto load = number.getDefiningOp<memref::LoadOp>();
    if (!load || load.getMemRef() != field || load->getBlock() != store->getBlock() ||
        !llvm::equal(load.getIndices(), store.getIndices()))
      return false;
    const bool isOwn = field.getDefiningOp<memref::AllocaOp>();
    for (Operation* op = load->getNextNode(); op != store; op = op->getNextNode()) {
      if (auto other = dyn_cast<memref::StoreOp>(op)) {
        Value block = other.getMemRef();
        const bool isElsewhere =
            block != field && (isOwn || block.getDefiningOp<memref::AllocaOp>() || llvm::is_contained(fields, block));
        if (!isElsewhere)
          return false;
      } else if (!isMemoryEffectFree(op) && !isa<memref::LoadOp, CheckOp, IndexOp>(op)) {
        return false;
      }
    }
    return true;
  }

  /// Puts a record of numbers in the place of what gives one: whoever takes it apart finds them at once.
  static void replace(Operation* op, llvm::function_ref<Value(OpBuilder&, const Path&)> number) {
    OpBuilder builder(op);
    const auto type = cast<RecordType>(op->getResult(0).getType());
    SmallVector<Value> numbers;
    for (const Path& path : pathsOf(type))
      numbers.push_back(number(builder, path));
    ArrayRef<Value> left = numbers;
    op->getResult(0).replaceAllUsesWith(recordOf(builder, op->getLoc(), type, left));
    op->erase();
  }

  static void split(WithFieldOp with) {
    replace(with, [&](OpBuilder& builder, const Path& path) {
      const bool isNew = path.front() == static_cast<int64_t>(with.getField());
      return isNew ? numberOf(builder, with.getLoc(), with.getValue(), ArrayRef(path).drop_front())
                   : numberOf(builder, with.getLoc(), with.getRecord(), path);
    });
  }

  static void split(arith::SelectOp choice) {
    if (isa<RecordType>(choice.getType()))
      replace(choice, [&](OpBuilder& builder, const Path& path) -> Value {
        Value taken = numberOf(builder, choice.getLoc(), choice.getTrueValue(), path);
        Value other = numberOf(builder, choice.getLoc(), choice.getFalseValue(), path);
        return builder.create<arith::SelectOp>(choice.getLoc(), choice.getCondition(), taken, other);
      });
  }

  static void split(FieldOp field) {
    auto made = field.getRecord().getDefiningOp<RecordOp>();
    if (!made)
      return;
    field.replaceAllUsesWith(made.getFields()[static_cast<size_t>(field.getField())]);
    field.erase();
  }

  KernelOp kernel_;
  llvm::MapVector<Value, SmallVector<Value>> fields_;
};

} // namespace

void splitRecords(KernelOp kernel) {
  RecordSplitter(kernel).run();
}

} // namespace strata::kernel
