// Records are whole vectors of numbers: a field is every n-th of them. See record_lanes.h.
#include "compiler/kernel/record_lanes.h"

#include "compiler/ir/svm.h"
#include "compiler/kernel/nests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {

namespace {
/// Which number of its record a field is, counted in numbers of its size.
size_t positionOf(FieldsOp field) {
  return FieldsOp::placeOf(field.getBlock().getType().getElementType(), field.getPath())->first /
         RecordType::sizeInBytes(field.getType().getElementType());
}
} // namespace

RecordLanes::RecordLanes(OpBuilder& builder, mlir::Location place, unsigned lanes, Value block, ArrayRef<Value> first)
    : builder_(builder), place_(place), lanes_(lanes), count_(fieldsSideBySide(block)) {
  auto field = block.getDefiningOp<FieldsOp>();
  own_ = static_cast<int64_t>(positionOf(field));
  number_ = field.getType().getElementType();
  auto whole = make<memref::ExtractStridedMetadataOp>(block);
  Value at = make<arith::SubIOp>(whole.getOffset(), index(own_));
  for (auto [each, stride] : llvm::zip_equal(first, whole.getStrides()))
    at = make<arith::AddIOp>(at, make<arith::MulIOp>(each, stride));
  const auto flat = MemRefType::get({ShapedType::kDynamic}, number_,
                                    StridedLayoutAttr::get(builder_.getContext(), ShapedType::kDynamic, {1}));
  numbers_ = make<memref::ReinterpretCastOp>(flat, whole.getBaseBuffer(), OpFoldResult(at),
                                             ArrayRef<OpFoldResult>{index(lanes_ * count_)},
                                             ArrayRef<OpFoldResult>{builder_.getIndexAttr(1)});
}

Value RecordLanes::load(Value mask) {
  const VectorType all = numbersOf(number_);
  Value numbers = mask ? make<vector::MaskedLoadOp>(all, numbers_, index(0), forNumbers(mask), nothing(all)).getResult()
                       : make<vector::LoadOp>(all, numbers_, index(0)).getResult();
  return shuffle(numbers, numbers, lanes_, [&](int64_t lane) { return lane * count_ + own_; });
}

void RecordLanes::store(Value numbers, Value mask) {
  const auto bits = VectorType::get({lanes_}, builder_.getI1Type());
  if (!mask)
    mask = make<arith::ConstantOp>(DenseElementsAttr::get(bits, true));
  Value ours = shuffle(mask, nothing(bits), lanes_ * count_,
                       [&](int64_t number) { return number % count_ == own_ ? number / count_ : lanes_; });
  make<vector::MaskedStoreOp>(numbers_, index(0), ours, forNumbers(numbers));
}

void RecordLanes::storeWhole(ArrayRef<Value> fields, Value mask) {
  // Of several types: as the bits that they are in memory.
  const auto typeOf = [](Value field) { return cast<VectorType>(field.getType()).getElementType(); };
  Type common = number_;
  if (llvm::any_of(fields, [&](Value field) { return typeOf(field) != number_; }))
    common = builder_.getIntegerType(number_.getIntOrFloatBitWidth());
  const auto as = [&](Value vector, Type type) -> Value {
    const auto to = cast<VectorType>(vector.getType()).clone(type);
    return to == vector.getType() ? vector : make<arith::BitcastOp>(to, vector);
  };
  SmallVector<Value, 4> parts;
  for (Value field : fields)
    parts.push_back(as(field, common));
  Value numbers = as(interleave(parts), number_);
  if (mask)
    make<vector::MaskedStoreOp>(numbers_, index(0), forNumbers(mask), numbers);
  else
    make<vector::StoreOp>(numbers, numbers_, index(0));
}

Value RecordLanes::index(int64_t value) {
  return make<arith::ConstantIndexOp>(value);
}

Value RecordLanes::nothing(Type type) {
  return make<arith::ConstantOp>(builder_.getZeroAttr(type));
}

VectorType RecordLanes::numbersOf(Type number) const {
  return VectorType::get({lanes_ * count_}, number);
}

Value RecordLanes::shuffle(Value one, Value other, int64_t count, llvm::function_ref<int64_t(int64_t)> from) {
  SmallVector<int64_t> places;
  for (int64_t place = 0; place < count; ++place)
    places.push_back(from(place));
  return make<vector::ShuffleOp>(one, other, places);
}

/// Each lane's as often as a record has numbers.
Value RecordLanes::forNumbers(Value lanes) {
  return shuffle(lanes, lanes, lanes_ * count_, [&](int64_t number) { return number / count_; });
}

/// Number `i` of part `k` of n comes to `n * i + k`. Of halves first, which gives two times two.
Value RecordLanes::interleave(SmallVector<Value, 4> parts) {
  const bool isThree = parts.size() == 3;
  if (isThree)
    parts.push_back(parts.back());
  while (parts.size() > 1) {
    const size_t half = parts.size() / 2;
    for (size_t i = 0; i < half; ++i) {
      const int64_t length = cast<VectorType>(parts[i].getType()).getNumElements();
      parts[i] = shuffle(parts[i], parts[half + i], 2 * length,
                         [&](int64_t place) { return place / 2 + (place % 2 ? length : 0); });
    }
    parts.truncate(half);
  }
  return isThree ? shuffle(parts[0], parts[0], 3 * lanes_, [](int64_t place) { return place / 3 * 4 + place % 3; })
                 : parts[0];
}

SmallVector<memref::StoreOp, 4> storesOfRecords(memref::StoreOp store) {
  auto first = store.getMemRef().getDefiningOp<FieldsOp>();
  SmallVector<memref::StoreOp, 4> stores(fieldsSideBySide(store.getMemRef()));
  const uint64_t bytes = RecordType::sizeInBytes(store.getValue().getType());
  Operation* op = store;
  for (size_t i = 0; i < stores.size(); ++i, op = op->getNextNode()) {
    auto each = dyn_cast<memref::StoreOp>(op);
    auto field = each ? each.getMemRef().getDefiningOp<FieldsOp>() : FieldsOp();
    if (!field || field.getBlock() != first.getBlock() || !llvm::equal(each.getIndices(), store.getIndices()) ||
        RecordType::sizeInBytes(each.getValue().getType()) != bytes)
      return {};
    memref::StoreOp& place = stores[positionOf(field)];
    if (place)
      return {};
    place = each;
  }
  return stores;
}

} // namespace strata::kernel
