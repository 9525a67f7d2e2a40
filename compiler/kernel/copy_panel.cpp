// Copies what the rows of a panel share into scratch memory, so that a tile reads it from one end to the other; what
// lies crosswise is turned on the way.
#include "compiler/kernel/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace strata::kernel {
namespace {

int64_t tileColumns(const TilePlan& plan) {
  return int64_t(plan.width) * plan.columnCount;
}

/// What reads registers of a plan's loads for copies.
class Copier {
public:
  Copier(const TilePlan& plan, OpBuilder& builder) : plan_(plan), builder_(builder), place_(plan.lanes->getLoc()) {}

protected:
  template <typename Op, typename... Arguments>
  Op make(Arguments&&... arguments) {
    return builder_.create<Op>(place_, std::forward<Arguments>(arguments)...);
  }
  Value constant(int64_t value) { return make<arith::ConstantIndexOp>(value); }

  /// Where a load of some lane, or row, and iteration reads.
  SmallVector<Value> indicesAt(memref::LoadOp load, scf::ForOp across, Value number, Value iteration) {
    scf::ForOp along = plan_.along;
    IRMapping values;
    values.map(across.getInductionVar(), number);
    values.map(along.getInductionVar(), iteration);
    SmallVector<Value> indices;
    for (Value index : load.getIndices()) {
      const std::optional<SmallVector<Operation*>> operations = operationsOf(plan_, along, index);
      for (Operation* op : *operations)
        if (!values.contains(op->getResult(0)))
          builder_.clone(*op, values);
      indices.push_back(values.lookupOrDefault(index));
    }
    return indices;
  }

  /// A register from memory, of which the first `left` elements are there; all of them where it is null.
  Value loadAt(memref::LoadOp load, ValueRange indices, Value left) {
    const auto type = VectorType::get({int64_t(plan_.width)}, load.getType());
    if (!left)
      return make<vector::LoadOp>(type, load.getMemRef(), indices);
    const auto numbers = VectorType::get({int64_t(plan_.width)}, builder_.getIndexType());
    SmallVector<APInt> lanesOf;
    for (unsigned lane = 0; lane < plan_.width; ++lane)
      lanesOf.emplace_back(IndexType::kInternalStorageBitWidth, lane);
    Value mask = make<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                     make<arith::ConstantOp>(DenseElementsAttr::get(numbers, lanesOf)),
                                     make<vector::SplatOp>(left, numbers));
    return make<vector::MaskedLoadOp>(type, load.getMemRef(), indices, mask,
                                      make<arith::ConstantOp>(builder_.getZeroAttr(type)));
  }

  const TilePlan& plan_;
  OpBuilder& builder_;
  const mlir::Location place_;
};

class PanelCopier : public Copier {
public:
  PanelCopier(const TilePlan& plan, OpBuilder& builder, const PanelCopy& copy, Value end)
      : Copier(plan, builder), copy_(copy), end_(end) {}

  void write() {
    const auto isPacked = [&](memref::LoadOp load) { return plan_.packed.contains(load); };
    if (!llvm::all_of(plan_.copied, isPacked))
      writeRows();
    if (llvm::any_of(plan_.copied, isPacked))
      writeSquares();
  }

private:
  /// One row after the other, as they lie in memory: full registers, then the last one under a mask.
  void writeRows() {
    scf::ForOp along = plan_.along;
    auto iterations = make<scf::ForOp>(along.getLowerBound(), along.getUpperBound(), constant(1));
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(iterations.getBody());
    Value number = iterations.getInductionVar();
    Value row = make<arith::MulIOp>(make<arith::SubIOp>(number, copy_.first), constant(tileColumns(plan_)));
    Value count = make<arith::SubIOp>(end_, copy_.from);
    Value left = make<arith::RemUIOp>(count, constant(plan_.width));
    Value full = make<arith::SubIOp>(end_, left);
    for (bool isMasked : {false, true}) {
      auto registers = make<scf::ForOp>(isMasked ? full : copy_.from, isMasked ? end_ : full, constant(plan_.width));
      OpBuilder::InsertionGuard inside(builder_);
      builder_.setInsertionPointToStart(registers.getBody());
      writeRegister(number, row, registers.getInductionVar(), isMasked ? left : Value());
    }
  }

  void writeRegister(Value number, Value row, Value column, Value left) {
    Value to = make<arith::AddIOp>(row, copy_.placeOf(plan_, builder_, column));
    for (auto [load, block] : llvm::zip_equal(plan_.copied, copy_.blocks))
      if (!plan_.packed.contains(load))
        make<vector::StoreOp>(loadAt(load, indicesAt(load, plan_.lanes, column, number), left), block, to);
  }

  /// Squares of as many lanes as iterations, turned in registers, along memory. Lanes that the panel has not are read
  /// from its last one; iterations that there are not are zeros, for which the copy has room.
  void writeSquares() {
    scf::ForOp along = plan_.along;
    auto registers = make<scf::ForOp>(copy_.from, end_, constant(plan_.width));
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(registers.getBody());
    Value column = registers.getInductionVar(), last = make<arith::SubIOp>(end_, constant(1));
    Value place = copy_.placeOf(plan_, builder_, column);
    SmallVector<Value> lanes;
    for (unsigned lane = 0; lane < plan_.width; ++lane)
      lanes.push_back(make<arith::MinSIOp>(make<arith::AddIOp>(column, constant(lane)), last));
    auto iterations = make<scf::ForOp>(along.getLowerBound(), along.getUpperBound(), constant(plan_.width));
    builder_.setInsertionPointToStart(iterations.getBody());
    Value number = iterations.getInductionVar();
    Value left = make<arith::SubIOp>(along.getUpperBound(), number);
    Value first = make<arith::SubIOp>(number, copy_.first);
    for (auto [load, block] : llvm::zip_equal(plan_.copied, copy_.blocks)) {
      if (!plan_.packed.contains(load))
        continue;
      SmallVector<Value> vectors;
      for (Value lane : lanes)
        vectors.push_back(loadAt(load, indicesAt(load, plan_.lanes, lane, number), left));
      turnVectors(builder_, place_, vectors);
      for (auto [number, vector] : llvm::enumerate(vectors)) {
        Value row = make<arith::MulIOp>(make<arith::AddIOp>(first, constant(static_cast<int64_t>(number))),
                                        constant(tileColumns(plan_)));
        make<vector::StoreOp>(vector, block, make<arith::AddIOp>(row, place).getResult());
      }
    }
  }

  const PanelCopy& copy_;
  const Value end_;
};

/// The copies of what rows reach side by side, turned in squares.
class CrossedCopier : public Copier {
public:
  using Copier::Copier;

  SmallVector<Value, 2> run() {
    scf::ForOp rows = plan_.rows, along = plan_.along;
    const auto inRegisters = [&](scf::ForOp loop) -> Value {
      Value count = tripsOf(builder_, place_, loop);
      return make<arith::MulIOp>(make<arith::CeilDivUIOp>(count, constant(plan_.width)), constant(plan_.width));
    };
    Value height = inRegisters(rows), length = inRegisters(along);
    SmallVector<Value, 2> blocks;
    for (memref::LoadOp load : plan_.crossed)
      blocks.push_back(make<memref::AllocOp>(
          MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic}, load.getType()), ValueRange{height, length}));
    write(blocks);
    return blocks;
  }

private:
  void write(ArrayRef<Value> blocks) {
    scf::ForOp rows = plan_.rows, along = plan_.along;
    auto tiles = make<scf::ForOp>(rows.getLowerBound(), rows.getUpperBound(), constant(plan_.width));
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(tiles.getBody());
    Value row = tiles.getInductionVar(), left = make<arith::SubIOp>(rows.getUpperBound(), row);
    Value to = make<arith::SubIOp>(row, rows.getLowerBound());
    auto iterations = make<scf::ForOp>(along.getLowerBound(), along.getUpperBound(), constant(plan_.width));
    builder_.setInsertionPointToStart(iterations.getBody());
    Value number = iterations.getInductionVar(), last = make<arith::SubIOp>(along.getUpperBound(), constant(1));
    Value place = make<arith::SubIOp>(number, along.getLowerBound());
    for (auto [load, block] : llvm::zip_equal(plan_.crossed, blocks)) {
      SmallVector<Value> vectors;
      for (unsigned ahead = 0; ahead < plan_.width; ++ahead) {
        Value iteration = make<arith::MinSIOp>(make<arith::AddIOp>(number, constant(ahead)), last);
        vectors.push_back(loadAt(load, indicesAt(load, rows, row, iteration), left));
      }
      turnVectors(builder_, place_, vectors);
      for (auto [ahead, vector] : llvm::enumerate(vectors)) {
        Value below = make<arith::AddIOp>(to, constant(static_cast<int64_t>(ahead)));
        make<vector::StoreOp>(vector, block, ValueRange{below, place});
      }
    }
  }
};

} // namespace

Value PanelCopy::placeOf(const TilePlan& plan, OpBuilder& builder, Value column) const {
  const mlir::Location place = plan.lanes->getLoc();
  Value size = builder.create<arith::ConstantIndexOp>(place, tileColumns(plan));
  Value number = builder.create<arith::SubIOp>(place, column, from);
  Value inTile = builder.create<arith::RemUIOp>(place, number, size);
  Value before = builder.create<arith::SubIOp>(place, number, inTile); // columns of the tiles before
  return builder.create<arith::AddIOp>(place, builder.create<arith::MulIOp>(place, before, trips), inTile);
}

Value PanelCopy::lanesAt(const TilePlan& plan, OpBuilder& builder, memref::LoadOp load, Value place, Value iteration,
                         Value mask) const {
  const auto* found = llvm::find(plan.copied, load);
  if (found == plan.copied.end())
    return {};
  const mlir::Location at = load.getLoc();
  Value block = blocks[static_cast<size_t>(found - plan.copied.begin())];
  Value size = builder.create<arith::ConstantIndexOp>(at, tileColumns(plan));
  Value trip = builder.create<arith::SubIOp>(at, iteration, first);
  Value from = builder.create<arith::AddIOp>(at, place, builder.create<arith::MulIOp>(at, trip, size));
  const auto type = VectorType::get({int64_t(plan.width)}, load.getType());
  if (!mask)
    return builder.create<vector::LoadOp>(at, type, block, from);
  Value none = builder.create<arith::ConstantOp>(at, builder.getZeroAttr(type));
  return builder.create<vector::MaskedLoadOp>(at, type, block, from, mask, none);
}

Value PanelCopy::crossedAt(const TilePlan& plan, OpBuilder& builder, memref::LoadOp load, Value row,
                           Value iteration) const {
  const auto* found = llvm::find(plan.crossed, load);
  if (found == plan.crossed.end())
    return {};
  scf::ForOp rows = plan.rows;
  const mlir::Location place = load.getLoc();
  Value number = builder.create<arith::SubIOp>(place, row, rows.getLowerBound());
  Value trip = builder.create<arith::SubIOp>(place, iteration, first);
  return builder.create<memref::LoadOp>(place, crossed[static_cast<size_t>(found - plan.crossed.begin())],
                                        ValueRange{number, trip});
}

SmallVector<Value, 2> copyCrossed(const TilePlan& plan, OpBuilder& builder) {
  return plan.crossed.empty() ? SmallVector<Value, 2>() : CrossedCopier(plan, builder).run();
}

PanelCopy copyPanel(const TilePlan& plan, OpBuilder& builder, Value from, Value upper, Value columns) {
  scf::ForOp along = plan.along;
  const mlir::Location place = plan.lanes->getLoc();
  PanelCopy copy;
  copy.from = from;
  copy.first = along.getLowerBound();
  copy.trips = tripsOf(builder, place, along);
  if (!plan.packed.empty()) {
    Value width = builder.create<arith::ConstantIndexOp>(place, plan.width);
    copy.trips =
        builder.create<arith::MulIOp>(place, builder.create<arith::CeilDivUIOp>(place, copy.trips, width), width);
  }
  Value size = builder.create<arith::MulIOp>(place, columns, copy.trips);
  for (memref::LoadOp load : plan.copied)
    copy.blocks.push_back(
        builder.create<memref::AllocOp>(place, MemRefType::get({ShapedType::kDynamic}, load.getType()), size));
  PanelCopier(plan, builder, copy, upper).write();
  return copy;
}

} // namespace strata::kernel
