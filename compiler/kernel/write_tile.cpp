// Writes the body of a planned tile. Every value is a scalar, one a row, a vector a column, or a vector for each of
// both.
#include "compiler/kernel/tiles.h"

#include "compiler/kernel/record_lanes.h"

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

namespace {

/// How many tiles before it is used a line is asked for, which takes about as long as memory does to answer: each tile
/// takes some lines from each of many rows.
constexpr int64_t tilesAhead = 4;

class TileWriter {
public:
  TileWriter(const TilePlan& plan, OpBuilder& builder, unsigned rows, unsigned columns, const PanelCopy* copy)
      : plan_(plan), builder_(builder), place_(plan.lanes->getLoc()), rows_(rows), columns_(columns), copy_(copy) {}

  /// `rows` are the rows' numbers, empty without any; `columns` the first lanes of the columns; lanes from `end` on
  /// are off, where there is one.
  void write(ArrayRef<Value> rows, ArrayRef<Value> columns, Value end) {
    scf::ForOp lanes = plan_.lanes, outer = plan_.rows;
    values_[lanes.getInductionVar()] = Tile(columns);
    if (outer)
      values_[outer.getInductionVar()] = Tile(rows);
    for (Value first : copy_ ? columns : ArrayRef<Value>())
      places_.push_back(copy_->placeOf(plan_, builder_, first));
    for (Value first : end ? columns : ArrayRef<Value>()) {
      Value left = make<arith::SubIOp>(end, first);
      mask_.push_back(make<arith::CmpIOp>(arith::CmpIPredicate::slt, numbers(builder_.getIndexType()), splat(left)));
    }
    write(*lanes.getBody());
  }

private:
  using Tile = SmallVector<Value>; // row by row, of the rows and columns that a value has

  template <typename Op, typename... Arguments>
  Op make(Arguments&&... arguments) {
    return builder_.create<Op>(place_, std::forward<Arguments>(arguments)...);
  }
  Value index(int64_t value) { return make<arith::ConstantIndexOp>(value); }

  TileKind kindOf(Value value) const { return plan_.kindOf(value); }
  bool isUniform(Value value) const { return kindOf(value).lane == Lane::Uniform; }
  bool areUniform(ValueRange values) const {
    return llvm::all_of(values, [&](Value value) { return isUniform(value); });
  }
  bool isAnyRow(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return kindOf(value).isRow; });
  }
  unsigned rowsOf(TileKind kind) const { return kind.isRow ? rows_ : 1; }
  unsigned columnsOf(TileKind kind) const { return kind.lane == Lane::Uniform ? 1 : columns_; }

  // ---- values ----

  VectorType vectorOf(Type element) const { return VectorType::get({static_cast<int64_t>(plan_.width)}, element); }
  Value splat(Value value) { return make<vector::SplatOp>(value, vectorOf(value.getType())); }
  Value nothing(Type type) { return make<arith::ConstantOp>(builder_.getZeroAttr(type)); }
  Value allLanes() { return make<arith::ConstantOp>(DenseElementsAttr::get(vectorOf(builder_.getI1Type()), true)); }

  /// 0, 1, 2, … in the lanes.
  Value numbers(Type type) {
    const unsigned bits = type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
    SmallVector<APInt> values;
    for (unsigned lane = 0; lane < plan_.width; ++lane)
      values.emplace_back(bits, lane);
    return make<arith::ConstantOp>(DenseElementsAttr::get(vectorOf(type), values));
  }

  /// As it is kept: a scalar for what is the same in all lanes and for the first of consecutive ones.
  Value at(Value value, unsigned row, unsigned column) {
    const auto found = values_.find(value);
    if (found == values_.end())
      return value; // from outside
    const TileKind kind = kindOf(value);
    const unsigned columns = columnsOf(kind);
    return found->second[(kind.isRow ? row : 0) * columns + (columns > 1 ? column : 0)];
  }

  Value numberOf(scf::ForOp loop, unsigned row) { return at(loop.getInductionVar(), row, 0); }

  Value vectorAt(Value value, unsigned row, unsigned column) {
    const Lane lane = kindOf(value).lane;
    Value kept = at(value, row, column);
    if (lane == Lane::Varying)
      return kept;
    Value lanes = splat(kept);
    return lane == Lane::Uniform ? lanes : make<arith::AddIOp>(lanes, numbers(value.getType())).getResult();
  }

  Value maskAt(unsigned row, unsigned column) const {
    return mask_.empty() ? Value() : mask_[(maskRows_ > 1 ? row : 0) * columns_ + column];
  }

  /// For a value that is one for all rows: lanes that any of them has on.
  Value maskOf(TileKind kind, unsigned row, unsigned column) {
    if (kind.isRow || maskRows_ <= 1)
      return maskAt(row, column);
    Value any = maskAt(0, column);
    for (unsigned other = 1; other < maskRows_; ++other)
      any = make<arith::OrIOp>(any, maskAt(other, column));
    return any;
  }

  /// Makes a value for each row and column that it has.
  void each(Value value, llvm::function_ref<Value(unsigned, unsigned)> makeOne) {
    const TileKind kind = kindOf(value);
    Tile made;
    for (unsigned row = 0; row < rowsOf(kind); ++row)
      for (unsigned column = 0; column < columnsOf(kind); ++column)
        made.push_back(makeOne(row, column));
    values_[value] = std::move(made);
  }

  /// Values as tiles of the kinds of `like`, one after the other; and back.
  void flatten(ValueRange values, ValueRange like, SmallVectorImpl<Value>& flat) {
    for (auto [value, kept] : llvm::zip_equal(values, like)) {
      const TileKind kind = kindOf(kept);
      for (unsigned row = 0; row < rowsOf(kind); ++row)
        for (unsigned column = 0; column < columnsOf(kind); ++column)
          flat.push_back(kind.lane == Lane::Varying ? vectorAt(value, row, column) : at(value, row, column));
    }
  }
  void unflatten(ValueRange values, ValueRange flat) {
    size_t next = 0;
    for (Value value : values) {
      const size_t count = size_t(rowsOf(kindOf(value))) * columnsOf(kindOf(value));
      values_[value] = llvm::to_vector(flat.slice(next, count));
      next += count;
    }
  }

  // ---- operations ----

  void write(Block& block) {
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

  void writeOther(Operation& op) {
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

  /// The lanes' indices, in as few bits as they came: of 32 bits twice as many are gathered at a time.
  Value indicesAt(Value value, unsigned row, unsigned column) {
    if (const auto found = narrow_.find(value); found != narrow_.end())
      return found->second[(kindOf(value).isRow ? row : 0) * columns_ + column];
    if (auto cast = value.getDefiningOp<arith::IndexCastOp>();
        cast && cast.getIn().getType().isInteger(32) && kindOf(cast.getIn()).lane == Lane::Varying)
      return vectorAt(cast.getIn(), row, column);
    return vectorAt(value, row, column);
  }

  /// The first lane's index.
  Value firstOf(const RowIndex& index, unsigned row, unsigned column) {
    Value first = at(index.value, row, column);
    if (!first.getType().isIndex())
      first = make<arith::IndexCastOp>(builder_.getIndexType(), first);
    return index.constant ? make<arith::AddIOp>(first, this->index(index.constant)).getResult() : first;
  }

  /// The row in which lanes reach elements, and where in it.
  SmallVector<Value> inRow(ValueRange indices, Value last, unsigned row) {
    SmallVector<Value> all;
    for (Value index : indices.drop_back())
      all.push_back(at(index, row, 0));
    all.push_back(last);
    return all;
  }

  /// Where lanes reach elements apart: from `first` in a block of elements side by side, each at its index.
  struct Scattered {
    Value block;
    SmallVector<Value> first;
    Value lanes;
  };

  Scattered scatteredAt(Value block, ValueRange indices, unsigned row, unsigned column) {
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

  /// Whether an access goes by vectors along the rows here: there are as many as lanes, which are all on.
  bool isTurned(Operation* op) const { return plan_.turned.contains(op) && rows_ == plan_.width && mask_.empty(); }

  /// Where the first row of a lane is.
  SmallVector<Value> inLane(ValueRange indices, unsigned lane) {
    SmallVector<Value> all;
    for (Value each : indices) {
      Value first = at(each, 0, 0);
      all.push_back(kindOf(each).lane == Lane::Consecutive ? make<arith::AddIOp>(first, index(lane)).getResult()
                                                           : first);
    }
    return all;
  }

  void writeTurned(memref::LoadOp load) {
    Tile vectors;
    for (unsigned lane = 0; lane < plan_.width; ++lane)
      vectors.push_back(
          make<vector::LoadOp>(vectorOf(load.getType()), load.getMemRef(), inLane(load.getIndices(), lane)));
    turnVectors(builder_, place_, vectors);
    values_[load] = std::move(vectors);
  }

  void writeTurned(memref::StoreOp store) {
    Tile vectors;
    for (unsigned row = 0; row < rows_; ++row)
      vectors.push_back(vectorAt(store.getValue(), row, 0));
    turnVectors(builder_, place_, vectors);
    for (auto [lane, each] : llvm::enumerate(vectors))
      make<vector::StoreOp>(each, store.getMemRef(), inLane(store.getIndices(), static_cast<unsigned>(lane)));
  }

  void write(memref::LoadOp load) {
    if (isTurned(load))
      return writeTurned(load);
    const ValueRange indices = load.getIndices();
    each(load, [&](unsigned row, unsigned column) -> Value {
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
          Value next = make<arith::AddIOp>(first, index(static_cast<int64_t>(plan_.width) * columns_ * tilesAhead));
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
    });
  }

  /// The load that gives the indices of a gather, of elements side by side that nobody writes.
  memref::LoadOp listOf(memref::LoadOp load) const {
    auto cast = load.getIndices().back().getDefiningOp<arith::IndexCastOp>();
    auto list = cast ? cast.getIn().getDefiningOp<memref::LoadOp>() : memref::LoadOp();
    if (!list || load.getIndices().size() != 1 || list.getIndices().size() != 1 || areUniform(list.getIndices()) ||
        !rowIndex(plan_, list.getMemRef(), list.getIndices()))
      return {};
    auto block = dyn_cast<BlockArgument>(list.getMemRef());
    auto kernel = block ? dyn_cast<KernelOp>(block.getOwner()->getParentOp()) : KernelOp();
    return kernel && !kernel.getMayAlias() && kernel.access(block.getArgNumber()) == svm::Access::Read
               ? list
               : memref::LoadOp();
  }
  bool hasListed(scf::ForOp loop) const {
    return loop
        ->walk([&](memref::LoadOp load) {
          const bool isGather = !areUniform(load.getIndices()) && !rowIndex(plan_, load.getMemRef(), load.getIndices());
          return isGather && listOf(load) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Element by element, each index from where it is listed: processors do the same for a gather, after they have taken
  /// the indices apart. Only where all lanes are on.
  Value gatherListed(memref::LoadOp load, memref::LoadOp list, unsigned row, unsigned column) {
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

  void writeRecords(memref::StoreOp store, const RowIndex& consecutive) {
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

  RecordLanes recordsAt(Value block, ValueRange indices, const RowIndex& consecutive, unsigned row, unsigned column) {
    return {builder_, place_, plan_.width, block, inRow(indices, firstOf(consecutive, row, column), row)};
  }

  void write(memref::StoreOp store) {
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

  /// A store to one element by the lanes that are chosen, in order.
  void storeOne(memref::StoreOp store, Value stored, Value mask, unsigned row) {
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

  // ---- loops ----

  /// How long each lane goes on, in a loop whose bounds differ between lanes.
  struct Counts {
    Type type;         // in which they are counted
    Tile lower, count; // vectors
    unsigned rows = 1;
    Value most, least; // index: until the last lane has left, and the first
  };

  /// A bound as the 32 bits that it comes from, or is a constant of; nothing where it has more.
  Value narrowed(Value bound) {
    if (auto cast = bound.getDefiningOp<arith::IndexCastOp>())
      return cast.getIn().getType().isInteger(32) ? cast.getIn() : Value();
    APInt constant;
    if (!matchPattern(bound, m_ConstantInt(&constant)) || !constant.isSignedIntN(32))
      return {};
    return make<arith::ConstantIntOp>(constant.getSExtValue(), 32);
  }

  Counts countsOf(scf::ForOp loop) {
    Counts counts;
    // In 32 bits where the bounds have them.
    Value lower = narrowed(loop.getLowerBound()), upper = lower ? narrowed(loop.getUpperBound()) : Value();
    const bool isNarrow = lower && upper;
    if (!isNarrow) {
      lower = loop.getLowerBound();
      upper = loop.getUpperBound();
    }
    counts.type = isNarrow ? Type(builder_.getI32Type()) : Type(builder_.getIndexType());
    counts.rows = isAnyRow({lower, upper}) || maskRows_ > 1 ? rows_ : 1;
    for (unsigned row = 0; row < counts.rows; ++row)
      for (unsigned column = 0; column < columns_; ++column) {
        Value begin = vectorAt(lower, row, column), end = vectorAt(upper, row, column);
        // A loop that ends before it begins has no iterations; the difference might not fit.
        Value isEntered = make<arith::CmpIOp>(arith::CmpIPredicate::slt, begin, end);
        if (Value mask = maskAt(row, column))
          isEntered = make<arith::AndIOp>(isEntered, mask);
        Value count = make<arith::SelectOp>(isEntered, make<arith::SubIOp>(end, begin), nothing(begin.getType()));
        counts.lower.push_back(begin);
        counts.count.push_back(count);
        Value whole = isNarrow ? count : make<arith::IndexCastOp>(vectorOf(builder_.getI64Type()), count).getResult();
        // Counts are not negative as integers without a sign.
        Value longest = make<vector::ReductionOp>(vector::CombiningKind::MAXUI, whole);
        counts.most = counts.most ? make<arith::MaxUIOp>(counts.most, longest).getResult() : longest;
        Value shortest = make<vector::ReductionOp>(vector::CombiningKind::MINUI, whole);
        counts.least = counts.least ? make<arith::MinUIOp>(counts.least, shortest).getResult() : shortest;
      }
    for (Value* each : {&counts.most, &counts.least})
      *each = isNarrow ? make<arith::IndexCastUIOp>(builder_.getIndexType(), *each).getResult()
                       : make<arith::IndexCastOp>(builder_.getIndexType(), *each).getResult();
    return counts;
  }

  void write(scf::ForOp loop) {
    SmallVector<Value> initial;
    flatten(loop.getInitArgs(), loop.getRegionIterArgs(), initial);
    const bool varies = !areUniform(loop->getOperands().take_front(3));
    Value lower = at(loop.getLowerBound(), 0, 0), upper, step = at(loop.getStep(), 0, 0);
    std::optional<Counts> counts;
    if (varies) {
      counts = countsOf(loop);
      upper = counts->most;
    } else {
      upper = at(loop.getUpperBound(), 0, 0);
    }
    const bool wasListed = std::exchange(isListed_, isListed_ || hasListed(loop));
    if (varies && mask_.empty() && hasListed(loop)) {
      initial = writePart(loop, index(0), counts->least, index(1), initial, &*counts, /*isMasked=*/false);
      unflatten(loop.getResults(), writePart(loop, counts->least, upper, index(1), initial, &*counts, true));
    } else if (varies) {
      unflatten(loop.getResults(), writePart(loop, index(0), upper, index(1), initial, &*counts, true));
    } else {
      unflatten(loop.getResults(), writePart(loop, lower, upper, step, initial, nullptr, false));
    }
    isListed_ = wasListed;
  }

  /// Iterations of a loop, counted from its beginning where there are counts; `isMasked`: some lanes have left it.
  SmallVector<Value> writePart(scf::ForOp loop, Value lower, Value upper, Value step, ArrayRef<Value> initial,
                               const Counts* counts, bool isMasked) {
    auto made = make<scf::ForOp>(lower, upper, step, initial);
    const Tile outerMask = mask_;
    const unsigned outerRows = maskRows_;
    {
      OpBuilder::InsertionGuard guard(builder_);
      made.getBody()->clear();
      builder_.setInsertionPointToStart(made.getBody());
      unflatten(loop.getRegionIterArgs(), made.getRegionIterArgs());
      if (counts)
        beginIteration(loop, made, *counts, at(loop.getLowerBound(), 0, 0), isMasked);
      else
        values_[loop.getInductionVar()] = {made.getInductionVar()};
      write(*loop.getBody());
      SmallVector<Value> next;
      flatten(loop.getYieldedValues(), loop.getRegionIterArgs(), next);
      if (isMasked)
        keepEnded(loop, next);
      make<scf::YieldOp>(next);
    }
    mask_ = outerMask;
    maskRows_ = outerRows;
    return llvm::to_vector(ValueRange(made.getResults()));
  }

  /// The variable of a loop that lanes leave at different times, and who is still in it.
  void beginIteration(scf::ForOp loop, scf::ForOp made, const Counts& counts, Value lower, bool isMasked) {
    const bool isNarrow = !counts.type.isIndex();
    Value number = made.getInductionVar();
    Value lanes = splat(isNarrow ? make<arith::IndexCastOp>(counts.type, number).getResult() : number);
    Tile on, variables, narrow;
    for (auto [begin, count] : llvm::zip_equal(counts.lower, counts.count)) {
      if (isMasked)
        on.push_back(make<arith::CmpIOp>(arith::CmpIPredicate::ult, lanes, count));
      if (isUniform(loop.getInductionVar()))
        continue;
      Value variable = make<arith::AddIOp>(begin, lanes);
      narrow.push_back(variable);
      variables.push_back(isNarrow ? make<arith::IndexCastOp>(vectorOf(builder_.getIndexType()), variable).getResult()
                                   : variable);
    }
    if (isUniform(loop.getInductionVar())) {
      values_[loop.getInductionVar()] = {make<arith::AddIOp>(lower, number)};
    } else {
      values_[loop.getInductionVar()] = variables;
      if (isNarrow)
        narrow_[loop.getInductionVar()] = narrow;
    }
    if (isMasked) { // the mask around is in the counts
      mask_ = on;
      maskRows_ = counts.rows;
    }
  }

  /// Lanes that have left the loop keep what they had.
  void keepEnded(scf::ForOp loop, SmallVectorImpl<Value>& next) {
    size_t number = 0;
    for (Value argument : loop.getRegionIterArgs()) {
      const TileKind kind = kindOf(argument);
      for (unsigned row = 0; row < rowsOf(kind); ++row)
        for (unsigned column = 0; column < columnsOf(kind); ++column, ++number)
          next[number] = make<arith::SelectOp>(maskOf(kind, row, column), next[number], at(argument, row, column));
    }
  }

  // ---- choices ----

  SmallVector<Type> flatTypes(ValueRange values) const {
    SmallVector<Type> types;
    for (Value value : values) {
      const TileKind kind = kindOf(value);
      types.append(size_t(rowsOf(kind)) * columnsOf(kind),
                   kind.lane == Lane::Varying ? Type(vectorOf(value.getType())) : value.getType());
    }
    return types;
  }

  /// All lanes choose alike.
  void writeChoice(scf::IfOp choice) {
    const bool hasElse = !choice.getElseRegion().empty();
    auto made = make<scf::IfOp>(flatTypes(choice.getResults()), at(choice.getCondition(), 0, 0), hasElse);
    for (bool isThen : {true, false}) {
      if (!isThen && !hasElse)
        continue;
      OpBuilder::InsertionGuard guard(builder_);
      Block *from = isThen ? choice.thenBlock() : choice.elseBlock(),
            *to = isThen ? made.thenBlock() : made.elseBlock();
      to->clear();
      builder_.setInsertionPointToStart(to);
      write(*from);
      SmallVector<Value> results;
      flatten(from->getTerminator()->getOperands(), choice.getResults(), results);
      make<scf::YieldOp>(results);
    }
    unflatten(choice.getResults(), made.getResults());
  }

  /// Each lane chooses: both arms are written, under masks, and the results picked.
  void writeMasked(scf::IfOp choice) {
    const Tile outerMask = mask_;
    const unsigned outerRows = maskRows_;
    const bool isRow = kindOf(choice.getCondition()).isRow || outerRows > 1;
    SmallVector<Value> results[2];
    for (bool isThen : {true, false}) {
      Block* arm = isThen ? choice.thenBlock() : choice.getElseRegion().empty() ? nullptr : choice.elseBlock();
      if (!arm)
        continue;
      Tile masks;
      for (unsigned row = 0; row < (isRow ? rows_ : 1); ++row)
        for (unsigned column = 0; column < columns_; ++column) {
          Value taken = vectorAt(choice.getCondition(), row, column);
          if (!isThen)
            taken = make<arith::XOrIOp>(taken, allLanes());
          Value around = outerMask.empty() ? Value() : outerMask[(outerRows > 1 ? row : 0) * columns_ + column];
          masks.push_back(around ? make<arith::AndIOp>(around, taken).getResult() : taken);
        }
      mask_ = masks;
      maskRows_ = isRow ? rows_ : 1;
      writeArm(choice, *arm, results[isThen ? 0 : 1]);
      mask_ = outerMask;
      maskRows_ = outerRows;
    }
    SmallVector<Value> picked;
    size_t number = 0;
    for (Value result : choice.getResults()) {
      const TileKind kind = kindOf(result);
      for (unsigned row = 0; row < rowsOf(kind); ++row)
        for (unsigned column = 0; column < columnsOf(kind); ++column, ++number)
          picked.push_back(make<arith::SelectOp>(vectorAt(choice.getCondition(), row, column), results[0][number],
                                                 results[1][number]));
    }
    unflatten(choice.getResults(), picked);
  }

  void writeArm(scf::IfOp choice, Block& arm, SmallVectorImpl<Value>& results) {
    if (!plan_.tested.contains(choice)) {
      write(arm);
      flatten(arm.getTerminator()->getOperands(), choice.getResults(), results);
      return;
    }
    Value any;
    for (Value mask : mask_)
      any = any ? make<arith::OrIOp>(any, mask).getResult() : mask;
    Value isTaken = make<vector::ReductionOp>(vector::CombiningKind::OR, any);
    auto made = make<scf::IfOp>(flatTypes(choice.getResults()), isTaken, !choice.getResults().empty());
    {
      OpBuilder::InsertionGuard guard(builder_);
      made.thenBlock()->clear();
      builder_.setInsertionPointToStart(made.thenBlock());
      write(arm);
      SmallVector<Value> given;
      flatten(arm.getTerminator()->getOperands(), choice.getResults(), given);
      make<scf::YieldOp>(given);
      if (!choice.getResults().empty()) {
        made.elseBlock()->clear();
        builder_.setInsertionPointToStart(made.elseBlock());
        SmallVector<Value> none;
        for (Type type : made.getResultTypes())
          none.push_back(nothing(type));
        make<scf::YieldOp>(none);
      }
    }
    llvm::append_range(results, made.getResults());
  }

  const TilePlan& plan_;
  OpBuilder& builder_;
  Location place_;
  const unsigned rows_, columns_;
  const PanelCopy* copy_; // null: there is none
  Tile places_;           // of the columns in it
  llvm::DenseMap<Value, Tile> values_;
  llvm::DenseMap<Value, Tile> narrow_; // variables of loops in 32 bits
  llvm::DenseSet<Operation*> stored_;  // stores to fields that were written with another one's
  Tile mask_;                          // of lanes that are on; empty: all
  unsigned maskRows_ = 1;              // that the mask has
  /// Whether a loop around gathers what is listed: then it takes a line here and there of long rows, more of them than
  /// processors look ahead in, and the next tile's are asked for.
  bool isListed_ = false;
};

} // namespace

void writeTileBody(const TilePlan& plan, OpBuilder& builder, unsigned rowCount, ArrayRef<Value> rows,
                   ArrayRef<Value> columns, Value end, const PanelCopy* copy) {
  TileWriter(plan, builder, rowCount, static_cast<unsigned>(columns.size()), copy).write(rows, columns, end);
}

} // namespace strata::kernel
