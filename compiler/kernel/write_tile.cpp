// Writes what is loaded, computed and stored in a planned tile; its loops and choices are in write_control.cpp.
#include "compiler/kernel/tile_writer.h"

#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <utility>

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {

void TileWriter::write(Block& block) {
  for (Operation& op : block.without_terminator()) {
    place_ = op.getLoc();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      write(loop);
    else if (auto choice = dyn_cast<scf::IfOp>(op))
      isUniform(choice.getCondition()) ? writeChoice(choice) : writeMasked(choice);
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      write(load);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      stored_.contains(store) ? void() : write(store);
    else
      writeOther(op);
  }
}

void TileWriter::writeOther(Operation& op) {
  if (op.getNumResults() == 0) { // a check that is the same for all of the tile
    IRMapping operands;
    for (Value operand : op.getOperands())
      operands.map(operand, at(operand, 0, 0));
    builder_.clone(op, operands);
    return;
  }
  const bool varies = kindOf(op.getResult(0)).lane == Lane::Varying;
  each(op.getResult(0), [&](unsigned row, unsigned column) {
    IRMapping operands;
    for (Value operand : op.getOperands())
      operands.map(operand, varies ? vectorAt(operand, row, column) : at(operand, row, column));
    Operation* made = builder_.clone(op, operands);
    if (varies)
      made->getResult(0).setType(vectorOf(op.getResult(0).getType()));
    return made->getResult(0);
  });
}

Value TileWriter::indicesAt(Value value, unsigned row, unsigned column) {
  if (const auto found = narrow_.find(value); found != narrow_.end())
    return found->second[(kindOf(value).isRow ? row : 0) * columns_ + column];
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>();
      cast && cast.getIn().getType().isInteger(32) && kindOf(cast.getIn()).lane == Lane::Varying)
    return vectorAt(cast.getIn(), row, column);
  return vectorAt(value, row, column);
}

Value TileWriter::firstOf(const RowIndex& index, unsigned row, unsigned column) {
  Value first = at(index.value, row, column);
  if (!first.getType().isIndex())
    first = make<arith::IndexCastOp>(builder_.getIndexType(), first);
  return index.constant ? make<arith::AddIOp>(first, this->index(index.constant)).getResult() : first;
}

SmallVector<Value> TileWriter::inRow(ValueRange indices, Value last, unsigned row) {
  SmallVector<Value> all;
  for (Value index : indices.drop_back())
    all.push_back(at(index, row, 0));
  all.push_back(last);
  return all;
}

TileWriter::Scattered TileWriter::scatteredAt(Value block, ValueRange indices, unsigned row, unsigned column) {
  SmallVector<int64_t> known;
  int64_t offset = 0;
  (void)getStridesAndOffset(cast<MemRefType>(block.getType()), known, offset);
  if (areUniform(indices.drop_back()) && known.back() == 1)
    return {block, inRow(indices, index(0), row), indicesAt(indices.back(), row, column)};
  // In one dimension: the lanes' part of each index by its stride, and what all have in common.
  auto whole = make<memref::ExtractStridedMetadataOp>(block);
  Value first, lanes;
  const auto add = [&](Value& sum, Value term) { sum = sum ? make<arith::AddIOp>(sum, term).getResult() : term; };
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    Value stride = whole.getStrides()[dimension];
    const Lane lane = kindOf(index).lane;
    if (lane != Lane::Varying)
      add(first, make<arith::MulIOp>(at(index, row, column), stride));
    if (lane == Lane::Uniform)
      continue;
    Value part = lane == Lane::Consecutive ? numbers(index.getType()) : vectorAt(index, row, column);
    add(lanes, make<arith::MulIOp>(part, splat(stride)));
  }
  if (!first)
    first = this->index(0);
  const auto type = cast<MemRefType>(block.getType());
  const auto flat = MemRefType::get({ShapedType::kDynamic}, type.getElementType(),
                                    StridedLayoutAttr::get(builder_.getContext(), ShapedType::kDynamic, {1}));
  Value one = make<memref::ReinterpretCastOp>(flat, whole.getBaseBuffer(), OpFoldResult(whole.getOffset()),
                                              ArrayRef<OpFoldResult>{make<memref::DimOp>(block, 0).getResult()},
                                              ArrayRef<OpFoldResult>{builder_.getIndexAttr(1)});
  return {one, {first}, lanes};
}

bool TileWriter::isTurned(Operation* op) const {
  return plan_.turned.contains(op) && rows_ == plan_.width && mask_.empty();
}

SmallVector<Value> TileWriter::inLane(ValueRange indices, unsigned lane) {
  SmallVector<Value> all;
  for (Value each : indices) {
    Value first = at(each, 0, 0);
    all.push_back(kindOf(each).lane == Lane::Consecutive ? make<arith::AddIOp>(first, index(lane)).getResult() : first);
  }
  return all;
}

void TileWriter::writeTurned(memref::LoadOp load) {
  Tile vectors;
  for (unsigned lane = 0; lane < plan_.width; ++lane)
    vectors.push_back(
        make<vector::LoadOp>(vectorOf(load.getType()), load.getMemRef(), inLane(load.getIndices(), lane)));
  turnVectors(builder_, place_, vectors);
  values_[load] = std::move(vectors);
}

void TileWriter::writeTurned(memref::StoreOp store) {
  Tile vectors;
  for (unsigned row = 0; row < rows_; ++row)
    vectors.push_back(vectorAt(store.getValue(), row, 0));
  turnVectors(builder_, place_, vectors);
  for (auto [lane, each] : llvm::enumerate(vectors))
    make<vector::StoreOp>(each, store.getMemRef(), inLane(store.getIndices(), static_cast<unsigned>(lane)));
}

void TileWriter::write(memref::LoadOp load) {
  if (isTurned(load))
    return writeTurned(load);
  Tile first; // row
  each(load, [&](unsigned row, unsigned column) {
    if (row > 0 && isStep_ && plan_.alike.contains(load))
      return first[column];
    Value made = loadOne(load, row, column);
    if (row == 0)
      first.push_back(made);
    return made;
  });
}

Value TileWriter::loadOne(memref::LoadOp load, unsigned row, unsigned column) {
  const ValueRange indices = load.getIndices();
  if (Value element =
          copy_ ? copy_->crossedAt(plan_, builder_, load, numberOf(plan_.rows, row), numberOf(plan_.along, row))
                : Value())
    return element;
  if (areUniform(indices)) {
    SmallVector<Value> scalars;
    for (Value index : indices)
      scalars.push_back(at(index, row, column));
    return make<memref::LoadOp>(load.getMemRef(), scalars);
  }
  const VectorType type = vectorOf(load.getType());
  Value mask = maskOf(kindOf(load), row, column);
  if (Value lanes =
          copy_ ? copy_->lanesAt(plan_, builder_, load, places_[column], numberOf(plan_.along, 0), mask) : Value())
    return lanes;
  if (const auto consecutive = rowIndex(plan_, load.getMemRef(), indices)) {
    Value first = firstOf(*consecutive, row, column);
    if (isListed_) {
      Value next = make<arith::AddIOp>(first, index(static_cast<int64_t>(plan_.width * columns_ * plan_.tilesAhead)));
      make<memref::PrefetchOp>(load.getMemRef(), inRow(indices, next, row), /*isWrite=*/false, /*localityHint=*/3u,
                               /*isDataCache=*/true);
    }
    if (!mask)
      return make<vector::LoadOp>(type, load.getMemRef(), inRow(indices, first, row));
    return make<vector::MaskedLoadOp>(type, load.getMemRef(), inRow(indices, first, row), mask, nothing(type));
  }
  if (const auto consecutive = recordIndex(plan_, load.getMemRef(), indices))
    return recordsAt(load.getMemRef(), indices, *consecutive, row, column).load(mask);
  if (memref::LoadOp list = mask ? memref::LoadOp() : listOf(load))
    return gatherListed(load, list, row, column);
  const Scattered at = scatteredAt(load.getMemRef(), indices, row, column);
  return make<vector::GatherOp>(type, at.block, at.first, at.lanes, mask ? mask : allLanes(), nothing(type));
}

memref::LoadOp TileWriter::listOf(memref::LoadOp load) const {
  auto cast = load.getIndices().back().getDefiningOp<arith::IndexCastOp>();
  auto list = cast ? cast.getIn().getDefiningOp<memref::LoadOp>() : memref::LoadOp();
  if (!list || load.getIndices().size() != 1 || list.getIndices().size() != 1 || areUniform(list.getIndices()) ||
      !rowIndex(plan_, list.getMemRef(), list.getIndices()))
    return {};
  auto block = dyn_cast<BlockArgument>(list.getMemRef());
  auto kernel = block ? dyn_cast<KernelOp>(block.getOwner()->getParentOp()) : KernelOp();
  return kernel && !kernel.getMayAlias() && kernel.access(block.getArgNumber()) == svm::Access::Read ? list
                                                                                                     : memref::LoadOp();
}

bool TileWriter::hasListed(scf::ForOp loop) const {
  return loop
      ->walk([&](memref::LoadOp load) {
        const bool isGather = !areUniform(load.getIndices()) && !rowIndex(plan_, load.getMemRef(), load.getIndices());
        return isGather && listOf(load) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Value TileWriter::gatherListed(memref::LoadOp load, memref::LoadOp list, unsigned row, unsigned column) {
  Value first = firstOf(*rowIndex(plan_, list.getMemRef(), list.getIndices()), row, column);
  Value gathered = nothing(vectorOf(load.getType()));
  for (unsigned lane = 0; lane < plan_.width; ++lane) {
    Value at = make<memref::LoadOp>(list.getMemRef(), make<arith::AddIOp>(first, index(lane)).getResult());
    // As vectors of one element: LLVM would make a gather of single ones.
    Value element = make<vector::LoadOp>(VectorType::get(1, load.getType()), load.getMemRef(),
                                         make<arith::IndexCastOp>(builder_.getIndexType(), at).getResult());
    gathered = make<vector::InsertStridedSliceOp>(element, gathered, ArrayRef<int64_t>{lane}, ArrayRef<int64_t>{1});
  }
  return gathered;
}

void TileWriter::writeRecords(memref::StoreOp store, const RowIndex& consecutive) {
  const SmallVector<memref::StoreOp, 4> whole = storesOfRecords(store);
  stored_.insert(whole.begin(), whole.end());
  const bool isRow = isAnyRow(store->getOperands()) || maskRows_ > 1 ||
                     llvm::any_of(whole, [&](memref::StoreOp each) { return isAnyRow(each->getOperands()); });
  for (unsigned row = 0; row < (isRow ? rows_ : 1); ++row)
    for (unsigned column = 0; column < columns_; ++column) {
      RecordLanes records = recordsAt(store.getMemRef(), store.getIndices(), consecutive, row, column);
      if (whole.empty()) {
        records.store(vectorAt(store.getValue(), row, column), maskAt(row, column));
        continue;
      }
      SmallVector<Value, 4> fields;
      for (memref::StoreOp each : whole)
        fields.push_back(vectorAt(each.getValue(), row, column));
      records.storeWhole(fields, maskAt(row, column));
    }
}

RecordLanes TileWriter::recordsAt(Value block, ValueRange indices, const RowIndex& consecutive, unsigned row,
                                  unsigned column) {
  return {builder_, place_, plan_.width, block, inRow(indices, firstOf(consecutive, row, column), row)};
}

void TileWriter::write(memref::StoreOp store) {
  if (isTurned(store))
    return writeTurned(store);
  const ValueRange indices = store.getIndices();
  if (const auto consecutive = recordIndex(plan_, store.getMemRef(), indices))
    return writeRecords(store, *consecutive);
  const bool isRow = isAnyRow(store->getOperands()) || maskRows_ > 1;
  for (unsigned row = 0; row < (isRow ? rows_ : 1); ++row)
    for (unsigned column = 0; column < columns_; ++column) {
      Value mask = maskAt(row, column), stored = vectorAt(store.getValue(), row, column);
      if (areUniform(indices)) {
        storeOne(store, stored, mask, row);
        continue;
      }
      if (const auto consecutive = rowIndex(plan_, store.getMemRef(), indices)) {
        const SmallVector<Value> first = inRow(indices, firstOf(*consecutive, row, column), row);
        if (mask)
          make<vector::MaskedStoreOp>(store.getMemRef(), first, mask, stored);
        else
          make<vector::StoreOp>(stored, store.getMemRef(), first);
        continue;
      }
      const Scattered at = scatteredAt(store.getMemRef(), indices, row, column);
      make<vector::ScatterOp>(at.block, at.first, at.lanes, mask ? mask : allLanes(), stored);
    }
}

void TileWriter::storeOne(memref::StoreOp store, Value stored, Value mask, unsigned row) {
  auto loop = make<scf::ForOp>(index(0), index(plan_.width), index(1));
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(loop.getBody());
  Value isOn = make<vector::ExtractElementOp>(mask, loop.getInductionVar());
  auto choice = make<scf::IfOp>(isOn, false);
  builder_.setInsertionPointToStart(choice.thenBlock());
  Value one = make<vector::ExtractElementOp>(stored, loop.getInductionVar());
  SmallVector<Value> indices;
  for (Value index : store.getIndices())
    indices.push_back(at(index, row, 0));
  make<memref::StoreOp>(one, store.getMemRef(), indices);
}

void writeTileBody(const TilePlan& plan, OpBuilder& builder, unsigned rowCount, ArrayRef<Value> rows,
                   ArrayRef<Value> columns, Value end, const PanelCopy* copy) {
  TileWriter(plan, builder, rowCount, static_cast<unsigned>(columns.size()), copy).write(rows, columns, end);
}

} // namespace strata::kernel
