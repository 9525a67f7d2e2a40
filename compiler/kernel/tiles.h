// Tiles: one loop of a kernel runs in the lanes of vector registers, several registers wide, and several iterations of
// the loop around it go along, so that what they share is loaded once. What differs between lanes in loops and choices
// runs under masks. The loops are those over the instances of a node, which are unordered, and those that are proved to
// have independent iterations (nests.h): they may be carried out in lock-step, as each iteration keeps its own order.
// Each computes what it computes alone, operation by operation: the same bits.
//
// First bounds are tightened (tighten_bounds.cpp), then tiles planned (plan_tile.cpp) and written (write_tile.cpp);
// tile_loops.cpp is the pass.
#pragma once

#include "base/machine/figures.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <optional>
#include <string>

namespace strata::kernel {

/// Turns what guards the whole body of a parallel loop into the loop's bounds: `for i < n: if i + 1 < m && x: …`
/// becomes `if x: for i < min(n, m - 1): …`. Where the guard has another form nothing changes.
void tightenBounds(mlir::scf::ForOp loop);

/// How a value differs between neighbouring iterations of a loop.
enum class Lane {
  Uniform,     ///< it does not
  Consecutive, ///< an integer that grows by one
  Varying      ///< otherwise
};

/// Operations on vectors that do in each lane exactly what they do on scalars, and harm nothing in lanes that are
/// masked off: no division that could trap.
bool isLaneWise(mlir::Operation* op);

/// A function of the C library that the runtime has for lanes, too (runtime/core/lane_functions.h), with the same bits.
bool isLibraryFunction(mlir::Operation* op);

/// How a value differs within a tile.
struct TileKind {
  Lane lane = Lane::Uniform;
  bool isRow = false; ///< it differs between rows
};

/// Refers to the loops' operations; lives as long as they are not changed.
struct TilePlan {
  mlir::scf::ForOp lanes; ///< in lanes
  mlir::scf::ForOp rows;  ///< the loop around it, whose iterations are rows of a tile; null: there is one row
  llvm::DenseMap<mlir::Value, TileKind> kinds; ///< those that are not there are the same everywhere
  unsigned width = 0;                          ///< iterations that fill a register
  unsigned rowCount = 1, columnCount = 1;      ///< of registers in a tile
  /// A loop inside in which every row of a tile reads the same elements, side by side in the lanes; null: there is
  /// none. Rows then go through a panel of columns, one after the other, as long as what they read stays in the cache.
  mlir::scf::ForOp along;
  uint64_t bytesAlong = 0, panelBytes = 0; ///< that an iteration of it reads for each lane; and of a panel, at most
  llvm::SmallVector<mlir::memref::LoadOp, 2> copied; ///< of what it reads, what may be read from a copy of a panel
  /// Of these, loads of which lanes reach elements apart, and neighbouring iterations of the loop along elements side
  /// by side, as of a matrix that is used transposed: a square of them changes lanes and iterations in registers as it
  /// is copied. Where there is no copy they are gathered.
  llvm::DenseSet<mlir::Operation*> packed;
  /// Loads, the same in all lanes, of which rows reach elements side by side, and iterations of the loop along elements
  /// apart: where panels are copied, so is what these read, once, with each row's elements side by side.
  llvm::SmallVector<mlir::memref::LoadOp, 2> crossed;
  /// Loads and stores of which rows reach elements side by side, and lanes apart: a tile of as many rows as lanes
  /// loads or stores a vector for each lane, and exchanges lanes and rows in registers.
  llvm::DenseSet<mlir::Operation*> turned;
  /// A loop in which a row reads what the row in front of it reads an iteration later, as a filter's does: rows begin
  /// it one after the other, and reach the same elements at the same time from then on (plan_skew.cpp). Null: there is
  /// none.
  mlir::scf::ForOp skewed;
  llvm::DenseSet<mlir::Operation*> alike; ///< loads that are the same for all rows then
  uint64_t tilesAhead = 0;                ///< that are asked for where loops gather what is listed
  bool isRepeatable = false;              ///< an iteration may be done twice: nothing is read of what is written
  /// Choices whose arms must not be executed where no lane takes them.
  llvm::DenseSet<mlir::Operation*> tested;

  TileKind kindOf(mlir::Value value) const { return kinds.lookup(value); }
};

/// An index at which the lanes reach elements side by side: `value` plus `constant`, where `value` is consecutive, of
/// fewer bits than an index perhaps. What is then widened would differ from that only behind the greatest number of
/// these bits, which is followed by the least: as an index that is negative, and no element has it.
struct RowIndex {
  mlir::Value value;
  int64_t constant = 0;
};
/// Nothing where lanes reach elements of several rows, or with gaps between them.
std::optional<RowIndex> rowIndex(const TilePlan& plan, mlir::Value block, mlir::ValueRange indices);
/// The same of lanes that reach a field of records side by side (fieldsSideBySide).
std::optional<RowIndex> recordIndex(const TilePlan& plan, mlir::Value block, mlir::ValueRange indices);

/// The loop marked svm.unordered right around another, with nothing but that one in it; null if there is none. What
/// stands between goes into the inner one.
mlir::scf::ForOp rowsAround(mlir::scf::ForOp lanes);

/// Why there is no tile, in words for the user, and where.
struct TileProblem {
  /// How far the attempt came: of several loops of a nest the one that came furthest is told of.
  enum Progress { None, IsCarried, Depends, IsScattered, IsIndependent };

  std::string what;
  mlir::LocationAttr at;
  Progress progress = None;
  std::string help = {}; ///< what to do about it; or empty
};
/// "a division has no form for lanes"
std::string noForm(mlir::Operation* op);

/// A plan for the innermost parallel loop of a nest; `rows` is the parallel loop around it, or null. Nothing where an
/// operation has no vector form; `problem` says which then.
std::optional<TilePlan> planTile(mlir::scf::ForOp lanes, mlir::scf::ForOp rows, const machine::Figures& figures,
                                 TileProblem& problem);

/// Whether rows may begin a loop of a tile one after the other, as far as its bounds and what is in it go.
bool canBeSkewed(const TilePlan& plan, mlir::scf::ForOp loop);
/// Fills TilePlan::alike. REQUIRES: the variable of TilePlan::skewed counts as different between rows.
void findAlike(TilePlan& plan);

/// Finds the loads that TilePlan::packed tells of (plan_panel.cpp). REQUIRES: what differs in the tile is known.
void planPacked(TilePlan& plan);
/// Finds the loop along which rows share what they read, and what of it may be copied (plan_panel.cpp). REQUIRES: the
/// size of the tile is chosen.
void planPanel(TilePlan& plan, const machine::Figures& figures);
/// What computes a value from the lanes, the rows, the loop along and what is there in front of the nest, in order;
/// nothing where it needs more than that.
std::optional<llvm::SmallVector<mlir::Operation*>> operationsOf(const TilePlan& plan, mlir::scf::ForOp along,
                                                                mlir::Value value);

/// A panel's copies: for each load of TilePlan::copied its elements, tile after tile, and in a tile iteration after
/// iteration of the loop along.
struct PanelCopy {
  mlir::Value from;  ///< the first lane of the panel
  mlir::Value first; ///< the first iteration
  mlir::Value trips; ///< iterations that there is room for: in whole registers where loads are packed
  llvm::SmallVector<mlir::Value, 2> blocks;
  llvm::SmallVector<mlir::Value, 2> crossed; ///< of TilePlan::crossed, by row and iteration, each from its first one

  /// Where the register that begins with the lane `column` is in the first iteration.
  mlir::Value placeOf(const TilePlan& plan, mlir::OpBuilder& builder, mlir::Value column) const;
  /// A register of an iteration, where `place` is what placeOf gives, of the lanes of a mask, if there is one; null
  /// where the load is none of TilePlan::copied.
  mlir::Value lanesAt(const TilePlan& plan, mlir::OpBuilder& builder, mlir::memref::LoadOp load, mlir::Value place,
                      mlir::Value iteration, mlir::Value mask) const;
  /// A row's element of an iteration; null where the load is none of TilePlan::crossed.
  mlir::Value crossedAt(const TilePlan& plan, mlir::OpBuilder& builder, mlir::memref::LoadOp load, mlir::Value row,
                        mlir::Value iteration) const;
};

/// Copies the panel of the lanes from `from` on, less than `upper` and at most `columns`, whole tiles, which is at
/// least one (write_panels.cpp).
PanelCopy copyPanel(const TilePlan& plan, mlir::OpBuilder& builder, mlir::Value from, mlir::Value upper,
                    mlir::Value columns);
/// Copies what TilePlan::crossed tells of, for all panels: a block for each load.
llvm::SmallVector<mlir::Value, 2> copyCrossed(const TilePlan& plan, mlir::OpBuilder& builder);

/// Writes the body of a plan's loops for one tile: `rows` are the rows' numbers, empty without any, `columns` the first
/// lanes of its registers, and lanes from `end` on are off, where it is given; `copy`, where it is given, is of the
/// panel (write_tile.cpp).
void writeTileBody(const TilePlan& plan, mlir::OpBuilder& builder, unsigned rowCount, mlir::ArrayRef<mlir::Value> rows,
                   mlir::ArrayRef<mlir::Value> columns, mlir::Value end, const PanelCopy* copy);

/// How many numbers there are from `from` on below `upper`, as an integer without a sign, which holds every difference.
mlir::Value length(mlir::OpBuilder& builder, mlir::Location place, mlir::Value from, mlir::Value upper);
/// How often a loop with steps of 1 goes around, likewise.
mlir::Value tripsOf(mlir::OpBuilder& builder, mlir::Location place, mlir::scf::ForOp loop);

/// Vectors of columns from as many vectors of rows, or the other way: element i of vector k changes places with element
/// k of vector i. REQUIRES: as many vectors as each has elements, a power of two (turn_vectors.cpp).
void turnVectors(mlir::OpBuilder& builder, mlir::Location place, llvm::SmallVectorImpl<mlir::Value>& vectors);

/// Replaces the loops of a plan (write_panels.cpp).
void writeTile(const TilePlan& plan);

/// Tiles the loops of a kernel that are marked svm.unordered, and its other nests of loops where they have independent
/// iterations; its variables become values. Takes and leaves svm.kernel; leaves operations of the vector dialect, and
/// what became of each loop (loop_paths.h). Its options `vector`, `vector-registers`, `vector-latency`,
/// `operations`, `memory-latency` and `cache` are the figures of the same names.
std::unique_ptr<mlir::Pass> createTileLoopsPass();
/// The same with a machine's figures. `verifies`: it fails where loops that it takes for independent have a conflict
/// (verify_order.h).
std::unique_ptr<mlir::Pass> createTileLoopsPassFor(const machine::Figures& figures, bool verifies = false);

} // namespace strata::kernel
