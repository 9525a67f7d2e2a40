// What writes the body of a planned tile (tiles.h): every value is a scalar, one a row, a vector a column, or a vector
// for each of both. Used by writeTileBody alone; one for each tile.
#pragma once

#include "compiler/kernel/record_lanes.h"
#include "compiler/kernel/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <utility>

namespace strata::kernel {

/// Refers to a plan and a builder, which live longer; used by one thread.
class TileWriter {
public:
  TileWriter(const TilePlan& plan, mlir::OpBuilder& builder, unsigned rows, unsigned columns, const PanelCopy* copy)
      : plan_(plan), builder_(builder), place_(plan.lanes->getLoc()), rows_(rows), columns_(columns), copy_(copy) {}

  /// `rows` are the rows' numbers, empty without any; `columns` the first lanes of the columns; lanes from `end` on
  /// are off, where there is one.
  void write(mlir::ArrayRef<mlir::Value> rows, mlir::ArrayRef<mlir::Value> columns, mlir::Value end) {
    mlir::scf::ForOp lanes = plan_.lanes, outer = plan_.rows;
    values_[lanes.getInductionVar()] = Tile(columns);
    if (outer)
      values_[outer.getInductionVar()] = Tile(rows);
    for (mlir::Value first : copy_ ? columns : mlir::ArrayRef<mlir::Value>())
      places_.push_back(copy_->placeOf(plan_, builder_, first));
    for (mlir::Value first : end ? columns : mlir::ArrayRef<mlir::Value>()) {
      mlir::Value left = make<mlir::arith::SubIOp>(end, first);
      mask_.push_back(
          make<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::slt, numbers(builder_.getIndexType()), splat(left)));
    }
    write(*lanes.getBody());
  }

private:
  using Tile = mlir::SmallVector<mlir::Value>; // row by row, of the rows and columns that a value has

  template <typename Op, typename... Arguments>
  Op make(Arguments&&... arguments) {
    return builder_.create<Op>(place_, std::forward<Arguments>(arguments)...);
  }
  mlir::Value index(int64_t value) { return make<mlir::arith::ConstantIndexOp>(value); }

  TileKind kindOf(mlir::Value value) const { return plan_.kindOf(value); }
  bool isUniform(mlir::Value value) const { return kindOf(value).lane == Lane::Uniform; }
  bool areUniform(mlir::ValueRange values) const {
    return llvm::all_of(values, [&](mlir::Value value) { return isUniform(value); });
  }
  bool isAnyRow(mlir::ValueRange values) const {
    return llvm::any_of(values, [&](mlir::Value value) { return kindOf(value).isRow; });
  }
  unsigned rowsOf(TileKind kind) const { return kind.isRow ? rows_ : 1; }
  unsigned columnsOf(TileKind kind) const { return kind.lane == Lane::Uniform ? 1 : columns_; }

  // ---- values ----

  mlir::VectorType vectorOf(mlir::Type element) const {
    return mlir::VectorType::get({static_cast<int64_t>(plan_.width)}, element);
  }
  mlir::Value splat(mlir::Value value) { return make<mlir::vector::SplatOp>(value, vectorOf(value.getType())); }
  mlir::Value nothing(mlir::Type type) { return make<mlir::arith::ConstantOp>(builder_.getZeroAttr(type)); }
  mlir::Value allLanes() {
    return make<mlir::arith::ConstantOp>(mlir::DenseElementsAttr::get(vectorOf(builder_.getI1Type()), true));
  }

  /// 0, 1, 2, … in the lanes.
  mlir::Value numbers(mlir::Type type) {
    const unsigned bits = type.isIndex() ? mlir::IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
    mlir::SmallVector<mlir::APInt> values;
    for (unsigned lane = 0; lane < plan_.width; ++lane)
      values.emplace_back(bits, lane);
    return make<mlir::arith::ConstantOp>(mlir::DenseElementsAttr::get(vectorOf(type), values));
  }

  /// As it is kept: a scalar for what is the same in all lanes and for the first of consecutive ones.
  mlir::Value at(mlir::Value value, unsigned row, unsigned column) {
    const auto found = values_.find(value);
    if (found == values_.end())
      return value; // from outside
    const TileKind kind = kindOf(value);
    const unsigned columns = columnsOf(kind);
    return found->second[(kind.isRow ? row : 0) * columns + (columns > 1 ? column : 0)];
  }

  mlir::Value numberOf(mlir::scf::ForOp loop, unsigned row) { return at(loop.getInductionVar(), row, 0); }

  mlir::Value vectorAt(mlir::Value value, unsigned row, unsigned column) {
    const Lane lane = kindOf(value).lane;
    mlir::Value kept = at(value, row, column);
    if (lane == Lane::Varying)
      return kept;
    mlir::Value lanes = splat(kept);
    return lane == Lane::Uniform ? lanes : make<mlir::arith::AddIOp>(lanes, numbers(value.getType())).getResult();
  }

  mlir::Value maskAt(unsigned row, unsigned column) const {
    return mask_.empty() ? mlir::Value() : mask_[(maskRows_ > 1 ? row : 0) * columns_ + column];
  }

  /// For a value that is one for all rows: lanes that any of them has on.
  mlir::Value maskOf(TileKind kind, unsigned row, unsigned column) {
    if (kind.isRow || maskRows_ <= 1)
      return maskAt(row, column);
    mlir::Value any = maskAt(0, column);
    for (unsigned other = 1; other < maskRows_; ++other)
      any = make<mlir::arith::OrIOp>(any, maskAt(other, column));
    return any;
  }

  /// Makes a value for each row and column that it has.
  void each(mlir::Value value, llvm::function_ref<mlir::Value(unsigned, unsigned)> makeOne) {
    const TileKind kind = kindOf(value);
    Tile made;
    for (unsigned row = 0; row < rowsOf(kind); ++row)
      for (unsigned column = 0; column < columnsOf(kind); ++column)
        made.push_back(makeOne(row, column));
    values_[value] = std::move(made);
  }

  /// Values as tiles of the kinds of `like`, one after the other; and back.
  void flatten(mlir::ValueRange values, mlir::ValueRange like, mlir::SmallVectorImpl<mlir::Value>& flat) {
    for (auto [value, kept] : llvm::zip_equal(values, like)) {
      const TileKind kind = kindOf(kept);
      for (unsigned row = 0; row < rowsOf(kind); ++row)
        for (unsigned column = 0; column < columnsOf(kind); ++column)
          flat.push_back(kind.lane == Lane::Varying ? vectorAt(value, row, column) : at(value, row, column));
    }
  }
  void unflatten(mlir::ValueRange values, mlir::ValueRange flat) {
    size_t next = 0;
    for (mlir::Value value : values) {
      const size_t count = size_t(rowsOf(kindOf(value))) * columnsOf(kindOf(value));
      values_[value] = llvm::to_vector(flat.slice(next, count));
      next += count;
    }
  }

  // ---- operations (write_tile.cpp) ----

  void write(mlir::Block& block);
  void writeOther(mlir::Operation& op);
  /// The lanes' indices, in as few bits as they came: of 32 bits twice as many are gathered at a time.
  mlir::Value indicesAt(mlir::Value value, unsigned row, unsigned column);
  /// The first lane's index.
  mlir::Value firstOf(const RowIndex& index, unsigned row, unsigned column);
  /// The row in which lanes reach elements, and where in it.
  mlir::SmallVector<mlir::Value> inRow(mlir::ValueRange indices, mlir::Value last, unsigned row);
  /// Where lanes reach elements apart: from `first` in a block of elements side by side, each at its index.
  struct Scattered {
    mlir::Value block;
    mlir::SmallVector<mlir::Value> first;
    mlir::Value lanes;
  };
  Scattered scatteredAt(mlir::Value block, mlir::ValueRange indices, unsigned row, unsigned column);
  /// Whether an access goes by vectors along the rows here: there are as many as lanes, which are all on.
  bool isTurned(mlir::Operation* op) const;
  /// Where the first row of a lane is.
  mlir::SmallVector<mlir::Value> inLane(mlir::ValueRange indices, unsigned lane);
  void writeTurned(mlir::memref::LoadOp load);
  void writeTurned(mlir::memref::StoreOp store);
  void write(mlir::memref::LoadOp load);
  mlir::Value loadOne(mlir::memref::LoadOp load, unsigned row, unsigned column);
  /// The load that gives the indices of a gather, of elements side by side that nobody writes.
  mlir::memref::LoadOp listOf(mlir::memref::LoadOp load) const;
  bool hasListed(mlir::scf::ForOp loop) const;
  /// Element by element, each index from where it is listed: processors do the same for a gather, after they have taken
  /// the indices apart. Only where all lanes are on.
  mlir::Value gatherListed(mlir::memref::LoadOp load, mlir::memref::LoadOp list, unsigned row, unsigned column);
  void writeRecords(mlir::memref::StoreOp store, const RowIndex& consecutive);
  RecordLanes recordsAt(mlir::Value block, mlir::ValueRange indices, const RowIndex& consecutive, unsigned row,
                        unsigned column);
  void write(mlir::memref::StoreOp store);
  /// A store to one element by the lanes that are chosen, in order.
  void storeOne(mlir::memref::StoreOp store, mlir::Value stored, mlir::Value mask, unsigned row);

  // ---- loops (write_control.cpp) ----

  /// How long each lane goes on, in a loop whose bounds differ between lanes.
  struct Counts {
    mlir::Type type;   // in which they are counted
    Tile lower, count; // vectors
    unsigned rows = 1;
    mlir::Value most, least; // index: until the last lane has left, and the first
  };
  /// A bound as the 32 bits that it comes from, or is a constant of; nothing where it has more.
  mlir::Value narrowed(mlir::Value bound);
  Counts countsOf(mlir::scf::ForOp loop);
  void write(mlir::scf::ForOp loop);
  /// Iterations of a loop, counted from its beginning where there are counts; `isMasked`: some lanes have left it.
  mlir::SmallVector<mlir::Value> writePart(mlir::scf::ForOp loop, mlir::Value lower, mlir::Value upper,
                                           mlir::Value step, mlir::ArrayRef<mlir::Value> initial, const Counts* counts,
                                           bool isMasked);
  /// Rows begin one after the other; where there are fewer iterations than that takes, they begin together.
  void writeSkewed(mlir::scf::ForOp loop);
  /// An iteration of the rows from `first` on, less than `last`: that of row 0 has the number `number`, whether it
  /// takes part or not, and each row is one behind the row in front of it. `carried` is of all rows.
  void writeStep(mlir::scf::ForOp loop, mlir::Value number, unsigned first, unsigned last,
                 mlir::SmallVectorImpl<mlir::Value>& carried);
  /// The variable of a loop that lanes leave at different times, and who is still in it.
  void beginIteration(mlir::scf::ForOp loop, mlir::scf::ForOp made, const Counts& counts, mlir::Value lower,
                      bool isMasked);
  /// Lanes that have left the loop keep what they had.
  void keepEnded(mlir::scf::ForOp loop, mlir::SmallVectorImpl<mlir::Value>& next);

  // ---- choices (write_control.cpp) ----

  mlir::SmallVector<mlir::Type> flatTypes(mlir::ValueRange values) const;
  /// All lanes choose alike.
  void writeChoice(mlir::scf::IfOp choice);
  /// Each lane chooses: both arms are written, under masks, and the results picked.
  void writeMasked(mlir::scf::IfOp choice);
  void writeArm(mlir::scf::IfOp choice, mlir::Block& arm, mlir::SmallVectorImpl<mlir::Value>& results);

  const TilePlan& plan_;
  mlir::OpBuilder& builder_;
  mlir::Location place_;
  const unsigned rows_, columns_;
  const PanelCopy* copy_; // null: there is none
  Tile places_;           // of the columns in it
  llvm::DenseMap<mlir::Value, Tile> values_;
  llvm::DenseMap<mlir::Value, Tile> narrow_; // variables of loops in 32 bits
  llvm::DenseSet<mlir::Operation*> stored_;  // stores to fields that were written with another one's
  Tile mask_;                                // of lanes that are on; empty: all
  unsigned maskRows_ = 1;                    // that the mask has
  /// Whether a loop around gathers what is listed: then it takes a line here and there of long rows, more of them than
  /// processors look ahead in, and the next tile's are asked for.
  bool isListed_ = false;
  bool isStep_ = false; // rows are at different iterations of TilePlan::skewed
};

} // namespace strata::kernel
