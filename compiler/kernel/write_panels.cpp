// Writes the loops around the tiles of a plan: panels of columns, full tiles, then rows that are left, and in each row
// of tiles the columns that are left, the last under a mask.
#include "compiler/kernel/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace strata::kernel {
namespace {

/// Tiles of rows for which a panel is copied, at least: copying an element takes as long as computing with it for one
/// of them, about.
constexpr unsigned rowTilesOfCopy = 4;

/// The part of a loop from `from` on that is whole multiples of `by`: its end.
Value wholeEnd(OpBuilder& builder, mlir::Location place, Value from, Value upper, unsigned by) {
  const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
  Value count = length(builder, place, from, upper);
  Value left = builder.create<arith::RemUIOp>(place, count, constant(by));
  return builder.create<arith::AddIOp>(place, from, builder.create<arith::SubIOp>(place, count, left));
}

/// Columns of some rows: tiles, single registers that are full, and the last one under a mask.
void writeColumns(const TilePlan& plan, OpBuilder& builder, ArrayRef<Value> rows, Value from, Value upper,
                  const PanelCopy* copy) {
  scf::ForOp lanes = plan.lanes;
  const mlir::Location place = lanes.getLoc();
  const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
  const unsigned rowCount = std::max<unsigned>(static_cast<unsigned>(rows.size()), 1);
  SmallVector<unsigned, 2> widths = {plan.columnCount};
  if (plan.columnCount > 1)
    widths.push_back(1);
  for (const unsigned count : widths) {
    const unsigned wide = plan.width * count;
    Value end = wholeEnd(builder, place, from, upper, wide);
    auto full = builder.create<scf::ForOp>(place, from, end, constant(wide));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(full.getBody());
    SmallVector<Value> columns;
    for (unsigned column = 0; column < count; ++column)
      columns.push_back(builder.create<arith::AddIOp>(place, full.getInductionVar(), constant(column * plan.width)));
    writeTileBody(plan, builder, rowCount, rows, columns, nullptr, copy);
    from = end;
  }
  auto rest = builder.create<scf::ForOp>(place, from, upper, constant(plan.width));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(rest.getBody());
  writeTileBody(plan, builder, rowCount, rows, rest.getInductionVar(), upper, copy);
}

/// The rows of some columns: as many as a tile has, then by twos, of which the sums hide each other's latency where
/// those of one row would not, then one by one.
void writeRows(const TilePlan& plan, OpBuilder& builder, Value from, Value upper, const PanelCopy* copy) {
  scf::ForOp outer = plan.rows;
  const mlir::Location place = outer.getLoc();
  const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
  SmallVector<unsigned, 3> heights = {plan.rowCount};
  if (plan.rowCount > 2)
    heights.push_back(2);
  if (plan.rowCount > 1)
    heights.push_back(1);
  Value first = outer.getLowerBound();
  for (const unsigned count : heights) {
    Value end = wholeEnd(builder, place, first, outer.getUpperBound(), count);
    auto tiles = builder.create<scf::ForOp>(place, first, end, constant(count));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(tiles.getBody());
    SmallVector<Value> rows = {tiles.getInductionVar()};
    for (unsigned row = 1; row < count; ++row)
      rows.push_back(builder.create<arith::AddIOp>(place, rows.front(), constant(row)));
    writeColumns(plan, builder, rows, from, upper, copy);
    first = end;
  }
}

/// Whole tiles of columns for which what rows share fits a panel; one at least.
Value panelColumns(const TilePlan& plan, OpBuilder& builder) {
  scf::ForOp along = plan.along;
  const mlir::Location place = plan.lanes->getLoc();
  const auto constant = [&](uint64_t value) -> Value {
    return builder.create<arith::ConstantIndexOp>(place, static_cast<int64_t>(value));
  };
  const uint64_t wide = uint64_t(plan.width) * plan.columnCount;
  Value trips = tripsOf(builder, place, along);
  Value most = constant(plan.panelBytes / (plan.bytesAlong * wide)); // iterations for which one tile fits
  Value tiles = builder.create<arith::DivUIOp>(place, most, builder.create<arith::MaxUIOp>(place, trips, constant(1)));
  return builder.create<arith::MulIOp>(place, builder.create<arith::MaxUIOp>(place, tiles, constant(1)),
                                       constant(wide));
}

/// Tiles of as many rows as lanes, which are turned, over loops that are as long at least; the last ones end with the
/// loops, and do again what others have done. Shorter loops go row by row.
void writeSquares(const TilePlan& plan, OpBuilder& builder) {
  scf::ForOp lanes = plan.lanes, outer = plan.rows;
  const mlir::Location place = outer.getLoc();
  const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
  const int64_t width = plan.width;
  const auto isLong = [&](scf::ForOp loop) -> Value {
    return builder.create<arith::CmpIOp>(place, arith::CmpIPredicate::uge, tripsOf(builder, place, loop),
                                         constant(width));
  };
  Value areLong = builder.create<arith::AndIOp>(place, isLong(outer), isLong(lanes));
  auto choice = builder.create<scf::IfOp>(place, areLong, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  const auto squares = [&](scf::ForOp loop) -> Value {
    Value last = builder.create<arith::SubIOp>(place, loop.getUpperBound(), constant(width));
    auto made = builder.create<scf::ForOp>(place, loop.getLowerBound(), loop.getUpperBound(), constant(width));
    builder.setInsertionPointToStart(made.getBody());
    return builder.create<arith::MinSIOp>(place, made.getInductionVar(), last);
  };
  Value row = squares(outer), column = squares(lanes);
  SmallVector<Value> rows;
  for (int64_t number = 0; number < width; ++number)
    rows.push_back(builder.create<arith::AddIOp>(place, row, constant(number)));
  writeTileBody(plan, builder, plan.width, rows, column, nullptr, nullptr);
  builder.setInsertionPointToStart(choice.elseBlock());
  auto single = builder.create<scf::ForOp>(place, outer.getLowerBound(), outer.getUpperBound(), constant(1));
  builder.setInsertionPointToStart(single.getBody());
  writeColumns(plan, builder, single.getInductionVar(), lanes.getLowerBound(), lanes.getUpperBound(), nullptr);
}

} // namespace

Value length(OpBuilder& builder, mlir::Location place, Value from, Value upper) {
  return builder.create<arith::SubIOp>(place, builder.create<arith::MaxSIOp>(place, upper, from), from);
}

Value tripsOf(OpBuilder& builder, mlir::Location place, scf::ForOp loop) {
  return length(builder, place, loop.getLowerBound(), loop.getUpperBound());
}

void writeTile(const TilePlan& plan) {
  scf::ForOp lanes = plan.lanes, outer = plan.rows;
  if (!outer) {
    OpBuilder builder(lanes);
    writeColumns(plan, builder, {}, lanes.getLowerBound(), lanes.getUpperBound(), nullptr);
    lanes.erase();
    return;
  }
  OpBuilder builder(outer);
  Value from = lanes.getLowerBound(), upper = lanes.getUpperBound();
  if (!plan.turned.empty() && plan.isRepeatable) {
    writeSquares(plan, builder);
  } else if (!plan.along) {
    writeRows(plan, builder, from, upper, nullptr);
  } else {
    // One panel is the nest as it stands: with another loop around it LLVM finds worse addresses.
    const mlir::Location place = lanes.getLoc();
    Value columns = panelColumns(plan, builder);
    const auto isLess = [&](Value count, int64_t limit) -> Value {
      return builder.create<arith::CmpIOp>(place, arith::CmpIPredicate::ult, count,
                                           builder.create<arith::ConstantIndexOp>(place, limit));
    };
    Value count = length(builder, place, from, upper);
    Value rows = tripsOf(builder, place, outer);
    Value isPlain;
    if (!plan.packed.empty()) {
      // An element takes less to be packed than to be gathered once, in squares that are full.
      scf::ForOp along = plan.along;
      Value trips = tripsOf(builder, place, along);
      isPlain = builder.create<arith::OrIOp>(
          place, isLess(rows, plan.rowCount),
          builder.create<arith::OrIOp>(place, isLess(count, plan.width), isLess(trips, plan.width)));
    } else {
      isPlain = builder.create<arith::CmpIOp>(place, arith::CmpIPredicate::ule, count, columns);
      // A copy of few rows' panel costs more than it saves.
      if (!plan.copied.empty())
        isPlain = builder.create<arith::OrIOp>(place, isPlain, isLess(rows, int64_t(rowTilesOfCopy) * plan.rowCount));
    }
    auto choice = builder.create<scf::IfOp>(place, isPlain, /*withElseRegion=*/true);
    builder.setInsertionPointToStart(choice.thenBlock());
    writeRows(plan, builder, from, upper, nullptr);
    builder.setInsertionPointToStart(choice.elseBlock());
    const SmallVector<Value, 2> crossed = copyCrossed(plan, builder);
    auto panels = builder.create<scf::ForOp>(place, from, upper, columns);
    builder.setInsertionPointToStart(panels.getBody());
    Value first = panels.getInductionVar();
    Value left = builder.create<arith::SubIOp>(place, upper, first); // which may be less
    Value end = builder.create<arith::AddIOp>(place, first, builder.create<arith::MinUIOp>(place, left, columns));
    std::optional<PanelCopy> copy;
    if (!plan.copied.empty()) {
      copy = copyPanel(plan, builder, first, end, columns);
      copy->crossed = crossed;
    }
    writeRows(plan, builder, first, end, copy ? &*copy : nullptr);
  }
  outer.erase();
}

} // namespace strata::kernel
