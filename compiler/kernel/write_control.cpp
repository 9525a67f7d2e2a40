// Loops and choices of a tile: those that are the same for all of it stay as they are, those that differ between lanes
// run under masks.
#include "compiler/kernel/tile_writer.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace strata::kernel {

// ---- loops ----

Value TileWriter::narrowed(Value bound) {
  if (auto cast = bound.getDefiningOp<arith::IndexCastOp>())
    return cast.getIn().getType().isInteger(32) ? cast.getIn() : Value();
  APInt constant;
  if (!matchPattern(bound, m_ConstantInt(&constant)) || !constant.isSignedIntN(32))
    return {};
  return make<arith::ConstantIntOp>(constant.getSExtValue(), 32);
}

TileWriter::Counts TileWriter::countsOf(scf::ForOp loop) {
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

void TileWriter::write(scf::ForOp loop) {
  if (loop == plan_.skewed && rows_ > 1 && rows_ == plan_.rowCount && columns_ == plan_.columnCount && mask_.empty())
    return writeSkewed(loop);
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

SmallVector<Value> TileWriter::writePart(scf::ForOp loop, Value lower, Value upper, Value step, ArrayRef<Value> initial,
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
      values_[loop.getInductionVar()] = Tile(rowsOf(kindOf(loop.getInductionVar())), made.getInductionVar());
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

void TileWriter::writeSkewed(scf::ForOp loop) {
  SmallVector<Value> initial;
  flatten(loop.getInitArgs(), loop.getRegionIterArgs(), initial);
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Value areEnough = make<arith::CmpIOp>(arith::CmpIPredicate::uge, tripsOf(builder_, place_, loop), index(rows_ - 1));
  auto choice = make<scf::IfOp>(flatTypes(loop.getRegionIterArgs()), areEnough, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder_);
    choice.thenBlock()->clear();
    builder_.setInsertionPointToStart(choice.thenBlock());
    SmallVector<Value> carried = initial;
    for (unsigned step = 0; step + 1 < rows_; ++step)
      writeStep(loop, make<arith::AddIOp>(lower, index(step)), 0, step + 1, carried);
    auto all = make<scf::ForOp>(make<arith::AddIOp>(lower, index(rows_ - 1)), upper, index(1), carried);
    {
      OpBuilder::InsertionGuard inside(builder_);
      all.getBody()->clear();
      builder_.setInsertionPointToStart(all.getBody());
      carried = llvm::to_vector_of<Value>(all.getRegionIterArgs());
      writeStep(loop, all.getInductionVar(), 0, rows_, carried);
      make<scf::YieldOp>(carried);
    }
    carried = llvm::to_vector_of<Value>(all.getResults());
    for (unsigned step = 1; step < rows_; ++step)
      writeStep(loop, make<arith::AddIOp>(upper, index(int64_t(step) - 1)), step, rows_, carried);
    make<scf::YieldOp>(carried);

    choice.elseBlock()->clear();
    builder_.setInsertionPointToStart(choice.elseBlock());
    make<scf::YieldOp>(writePart(loop, lower, upper, index(1), initial, nullptr, false));
  }
  unflatten(loop.getResults(), choice.getResults());
}

void TileWriter::writeStep(scf::ForOp loop, Value number, unsigned first, unsigned last,
                           SmallVectorImpl<Value>& carried) {
  TileWriter part(plan_, builder_, last - first, columns_, copy_);
  part.isStep_ = true;
  const auto partOf = [&](Value value, ArrayRef<Value> tile) {
    const size_t columns = columnsOf(kindOf(value));
    return kindOf(value).isRow ? Tile(tile.slice(first * columns, (last - first) * columns)) : Tile(tile);
  };
  for (const auto& [value, tile] : values_)
    part.values_[value] = partOf(value, tile);
  Tile numbers;
  for (unsigned row = first; row < last; ++row)
    numbers.push_back(make<arith::SubIOp>(number, index(row)));
  part.values_[loop.getInductionVar()] = numbers;
  size_t begin = 0;
  for (Value argument : loop.getRegionIterArgs()) {
    const size_t count = size_t(rows_) * columnsOf(kindOf(argument));
    part.values_[argument] = partOf(argument, ArrayRef(carried).slice(begin, count));
    begin += count;
  }
  part.write(*loop.getBody());
  SmallVector<Value> next;
  part.flatten(loop.getYieldedValues(), loop.getRegionIterArgs(), next);
  begin = 0;
  size_t from = 0;
  for (Value argument : loop.getRegionIterArgs()) {
    const size_t columns = columnsOf(kindOf(argument));
    for (size_t at = first * columns; at < last * columns; ++at)
      carried[begin + at] = next[from++];
    begin += rows_ * columns;
  }
}

void TileWriter::beginIteration(scf::ForOp loop, scf::ForOp made, const Counts& counts, Value lower, bool isMasked) {
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

void TileWriter::keepEnded(scf::ForOp loop, SmallVectorImpl<Value>& next) {
  size_t number = 0;
  for (Value argument : loop.getRegionIterArgs()) {
    const TileKind kind = kindOf(argument);
    for (unsigned row = 0; row < rowsOf(kind); ++row)
      for (unsigned column = 0; column < columnsOf(kind); ++column, ++number)
        next[number] = make<arith::SelectOp>(maskOf(kind, row, column), next[number], at(argument, row, column));
  }
}

// ---- choices ----

SmallVector<Type> TileWriter::flatTypes(ValueRange values) const {
  SmallVector<Type> types;
  for (Value value : values) {
    const TileKind kind = kindOf(value);
    types.append(size_t(rowsOf(kind)) * columnsOf(kind),
                 kind.lane == Lane::Varying ? Type(vectorOf(value.getType())) : value.getType());
  }
  return types;
}

void TileWriter::writeChoice(scf::IfOp choice) {
  const bool hasElse = !choice.getElseRegion().empty();
  auto made = make<scf::IfOp>(flatTypes(choice.getResults()), at(choice.getCondition(), 0, 0), hasElse);
  for (bool isThen : {true, false}) {
    if (!isThen && !hasElse)
      continue;
    OpBuilder::InsertionGuard guard(builder_);
    Block *from = isThen ? choice.thenBlock() : choice.elseBlock(), *to = isThen ? made.thenBlock() : made.elseBlock();
    to->clear();
    builder_.setInsertionPointToStart(to);
    write(*from);
    SmallVector<Value> results;
    flatten(from->getTerminator()->getOperands(), choice.getResults(), results);
    make<scf::YieldOp>(results);
  }
  unflatten(choice.getResults(), made.getResults());
}

void TileWriter::writeMasked(scf::IfOp choice) {
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

void TileWriter::writeArm(scf::IfOp choice, Block& arm, SmallVectorImpl<Value>& results) {
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

} // namespace strata::kernel
