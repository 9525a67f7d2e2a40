// Prefetching as in Mowry, Lam and Gupta, "Design and Evaluation of a Compiler Algorithm for Prefetching" (1992), for
// the one pattern that processors do not see through by themselves: a loop that reads a few neighbouring elements of a
// row and goes on to the next row, which lies on another page.
#include "compiler/kernel/prefetch.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"
#include "compiler/kernel/figure_options.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {

using mlir::Location;
namespace {

constexpr unsigned deepest = 8; // operations behind an index

/// When and how far ahead, in bytes.
struct Distances {
  explicit Distances(const machine::Figures& figures)
      : line(static_cast<int64_t>(figures.lineBytes)), page(static_cast<int64_t>(figures.pageBytes)),
        longPiece(static_cast<int64_t>(figures.longPieceBytes())), rowsAhead(static_cast<int64_t>(figures.rowsAhead())),
        cached(static_cast<int64_t>(figures.nearBytes())) {}
  int64_t line;
  int64_t page;      // processors follow a stream of reads to the end of its page
  int64_t longPiece; // from here on they have guessed how it goes on
  int64_t rowsAhead;
  int64_t cached; // a block whose rows span less may be in a cache near by, all of it
};

/// A read of pieces of rows.
struct RowRead {
  memref::LoadOp load;
  scf::ForOp along;                // counts the elements of a piece, which are the block's last dimension
  scf::ForOp rows;                 // goes from row to row
  unsigned position;               // of the dimension that `rows` counts
  scf::ForOp around;               // the loop around the rows; null: none
  SmallVector<scf::ForOp> repeats; // loops between the two that read the same pieces again
};

/// The loops around an operation, innermost first, up to the kernel. Empty when there is something else among them.
SmallVector<scf::ForOp> loopsAround(Operation* op) {
  SmallVector<scf::ForOp> loops;
  for (Operation* parent = op->getParentOp(); !isa<KernelOp>(parent); parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return {};
    loops.push_back(loop);
  }
  return loops;
}

/// What the row of a read is made of: counters, arithmetic, scalar variables and what lies outside of the rows' loop.
struct RowParts {
  scf::ForOp rows, along;
  SmallVector<Value> counters = {}; // of loops within the rows' loop, and its own
  unsigned rowCount = 0;            // how often the rows' counter is a term of an index as a sum
  bool isKnown = true;              // nothing else is in it, and all is there before a piece is read

  void take(Value value, bool isTerm = true, unsigned depth = 0) {
    if (value == rows.getInductionVar())
      rowCount += isTerm ? 1 : 2; // as a factor it is no neighbour of the next row
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && loop != along && argument == loop.getInductionVar())
        counters.push_back(value);
      else
        isKnown &= rows.isDefinedOutsideOfLoop(value);
      return;
    }
    if (rows.isDefinedOutsideOfLoop(value))
      return;
    Operation* op = value.getDefiningOp();
    auto load = dyn_cast<memref::LoadOp>(op);
    isKnown &= depth < deepest && (load ? isVariable(load.getMemRef())
                                        : isa<arith::ArithDialect>(op->getDialect()) && canExecuteAnywhere(op));
    if (!isKnown || load)
      return;
    const bool isSum = isTerm && isa<arith::AddIOp, arith::IndexCastOp, arith::ExtSIOp>(op);
    for (Value operand : op->getOperands())
      take(operand, isSum, depth + 1);
  }

  bool isVariable(Value memory) {
    return memory.getDefiningOp<memref::AllocaOp>() && cast<MemRefType>(memory.getType()).getRank() == 0 &&
           along.isDefinedOutsideOfLoop(memory);
  }
};

/// The parts of all indices but the last. `position` is set to that of the index that grows with `rows`, if one does.
RowParts partsOfRow(memref::LoadOp load, scf::ForOp rows, scf::ForOp along, std::optional<unsigned>& position) {
  RowParts all{rows, along};
  for (auto [at, index] : llvm::enumerate(load.getIndices().drop_back())) {
    const unsigned before = all.rowCount;
    all.take(index);
    if (all.rowCount != before)
      position = static_cast<unsigned>(at);
  }
  return all;
}

std::optional<RowRead> rowRead(memref::LoadOp load) {
  auto block = dyn_cast<BlockArgument>(load.getMemRef());
  MemRefType type = load.getMemRefType();
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (!block || !isa<KernelOp>(block.getOwner()->getParentOp()) || type.getRank() < 2 ||
      failed(getStridesAndOffset(type, strides, offset)) || strides.back() != 1)
    return std::nullopt;
  SmallVector<scf::ForOp> loops = loopsAround(load);
  if (loops.size() < 2 || load.getIndices().back() != loops.front().getInductionVar() ||
      llvm::any_of(loops, [](scf::ForOp loop) { return !matchPattern(loop.getStep(), m_One()); }))
    return std::nullopt;
  const scf::ForOp along = loops.front();
  for (auto [at, rows] : llvm::enumerate(loops)) {
    if (at == 0)
      continue;
    std::optional<unsigned> position;
    const RowParts parts = partsOfRow(load, rows, along, position);
    if (!parts.isKnown)
      return std::nullopt;
    if (parts.rowCount != 1)
      continue;
    // Around the rows, a loop that counts no dimension would read everything again, from a cache by then.
    for (scf::ForOp around : ArrayRef(loops).drop_front(at + 1))
      if (!llvm::is_contained(load.getIndices(), around.getInductionVar()))
        return std::nullopt;
    RowRead read{load, along, rows, *position, at + 1 < loops.size() ? loops[at + 1] : nullptr, {}};
    for (scf::ForOp between : ArrayRef(loops).slice(1, at - 1))
      if (!llvm::is_contained(parts.counters, between.getInductionVar()))
        read.repeats.push_back(between);
    scf::ForOp counted = along;
    if (!rows.isDefinedOutsideOfLoop(counted.getLowerBound()) || !rows.isDefinedOutsideOfLoop(counted.getUpperBound()))
      return std::nullopt;
    return read;
  }
  return std::nullopt;
}

/// An index computed once more, with other values of counters.
Value withCounters(OpBuilder& builder, Value value, const IRMapping& counters, scf::ForOp rows) {
  if (Value other = counters.lookupOrNull(value))
    return other;
  Operation* op = value.getDefiningOp();
  if (!op || rows.isDefinedOutsideOfLoop(value))
    return value;
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, withCounters(builder, operand, counters, rows));
  return builder.clone(*op, operands)->getResult(0);
}

void prefetch(const RowRead& read, const Distances& distances) {
  scf::ForOp rows = read.rows, along = read.along;
  memref::LoadOp load = read.load;
  Location loc = load.getLoc();
  auto bytes = static_cast<int64_t>(RecordType::sizeInBytes(load.getType()));
  OpBuilder builder(rows);
  auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(loc, value); };
  auto compare = [&](arith::CmpIPredicate how, Value left, int64_t right) -> Value {
    return builder.create<arith::CmpIOp>(loc, how, left, constant(right));
  };
  auto both = [&](Value left, Value right) -> Value { return builder.create<arith::AndIOp>(loc, left, right); };
  auto shape = builder.create<memref::ExtractStridedMetadataOp>(loc, load.getMemRef());
  Value piece = builder.create<arith::SubIOp>(loc, along.getUpperBound(), along.getLowerBound());
  Value isShort = compare(arith::CmpIPredicate::sle, piece, distances.longPiece / bytes);
  Value stride = shape.getStrides()[read.position];
  Value isFar = compare(arith::CmpIPredicate::sge, stride, (distances.page + bytes - 1) / bytes);
  Value span = builder.create<arith::MulIOp>(loc, shape.getSizes()[read.position], stride);
  Value pays = both(isShort, both(isFar, compare(arith::CmpIPredicate::sge, span, distances.cached / bytes)));
  // No further ahead than the rows go: after the last come the first ones of the loop around them.
  auto lastOf = [&](scf::ForOp loop) -> Value {
    return builder.create<arith::SubIOp>(loc, loop.getUpperBound(), constant(1));
  };
  Value count = builder.create<arith::SubIOp>(loc, rows.getUpperBound(), rows.getLowerBound());
  Value distance = builder.create<arith::MinSIOp>(loc, count, constant(distances.rowsAhead));
  Value last = lastOf(rows);
  builder.setInsertionPoint(along);
  for (scf::ForOp loop : read.repeats)
    pays = both(pays, builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, loop.getInductionVar(),
                                                    loop.getLowerBound()));
  auto when = builder.create<scf::IfOp>(loc, pays);
  builder.setInsertionPointToStart(when.thenBlock());
  Value ahead = builder.create<arith::AddIOp>(loc, rows.getInductionVar(), distance);
  IRMapping counters;
  if (scf::ForOp around = read.around) {
    Value isOver = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, ahead, last);
    Value next = builder.create<arith::AddIOp>(loc, around.getInductionVar(), constant(1));
    next = builder.create<arith::MinSIOp>(loc, next, lastOf(around));
    counters.map(around.getInductionVar(),
                 builder.create<arith::SelectOp>(loc, isOver, next, around.getInductionVar()).getResult());
    Value again = builder.create<arith::SubIOp>(loc, ahead, count);
    counters.map(rows.getInductionVar(), builder.create<arith::SelectOp>(loc, isOver, again, ahead).getResult());
  } else {
    counters.map(rows.getInductionVar(), builder.create<arith::MinSIOp>(loc, ahead, last).getResult());
  }
  SmallVector<Value> indices;
  for (Value index : load.getIndices().drop_back())
    indices.push_back(withCounters(builder, index, counters, rows));
  auto lines = builder.create<scf::ForOp>(loc, along.getLowerBound(), along.getUpperBound(),
                                          constant(std::max<int64_t>(distances.line / bytes, 1)));
  builder.setInsertionPointToStart(lines.getBody());
  indices.push_back(lines.getInductionVar());
  builder.create<memref::PrefetchOp>(loc, load.getMemRef(), indices, /*isWrite=*/false, /*localityHint=*/3,
                                     /*isDataCache=*/true);
}

struct PrefetchRowsPass : PassWrapper<PrefetchRowsPass, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrefetchRowsPass)

  PrefetchRowsPass() = default;
  PrefetchRowsPass(const PrefetchRowsPass& other) : PassWrapper(other) {}
  explicit PrefetchRowsPass(const machine::Figures& figures) {
    line_ = figures.lineBytes;
    page_ = figures.pageBytes;
    cache_ = figures.cacheBytes;
    latency_ = figures.memoryLatency;
  }

  LogicalResult initialize(MLIRContext* context) override {
    return success(isPossible(context, machine::lineRule, line_) && isPossible(context, machine::pageRule, page_) &&
                   isPossible(context, machine::cacheRule, cache_) &&
                   isPossible(context, machine::memoryLatencyRule, latency_));
  }

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isStructured())
      return;
    SmallVector<RowRead> reads;
    kernel.walk([&](memref::LoadOp load) {
      auto read = rowRead(load);
      auto isSame = [&](const RowRead& other) {
        RowRead known = other;
        return known.along == read->along && known.load.getMemRef() == load.getMemRef() &&
               known.position == read->position;
      };
      if (read && llvm::none_of(reads, isSame))
        reads.push_back(*read);
    });
    machine::Figures figures;
    figures.lineBytes = line_;
    figures.pageBytes = page_;
    figures.cacheBytes = cache_;
    figures.memoryLatency = latency_;
    for (const RowRead& read : reads)
      prefetch(read, Distances(figures));
  }

private:
  Option<uint64_t> line_{*this, options::line.name, llvm::cl::desc(options::line.meaning),
                         llvm::cl::init(options::line.usual)};
  Option<uint64_t> page_{*this, options::page.name, llvm::cl::desc(options::page.meaning),
                         llvm::cl::init(options::page.usual)};
  Option<uint64_t> cache_{*this, options::cache.name, llvm::cl::desc(options::cache.meaning),
                          llvm::cl::init(options::cache.usual)};
  Option<uint64_t> latency_{*this, options::memoryLatency.name, llvm::cl::desc(options::memoryLatency.meaning),
                            llvm::cl::init(options::memoryLatency.usual)};
};

} // namespace

std::unique_ptr<Pass> createPrefetchRowsPass() {
  return svm::makePass<PrefetchRowsPass>(svm::passes::PrefetchRows);
}

std::unique_ptr<Pass> createPrefetchRowsPassFor(const machine::Figures& figures) {
  return svm::makePass<PrefetchRowsPass>(svm::passes::PrefetchRows, figures);
}

} // namespace strata::kernel
