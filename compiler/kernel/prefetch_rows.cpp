// Prefetching as in Mowry, Lam and Gupta, "Design and Evaluation of a Compiler Algorithm for Prefetching" (1992), for
// the one pattern that processors do not see through by themselves: a loop that reads a few neighbouring elements of a
// row and goes on to the next row, which lies on another page.
#include "compiler/kernel/prefetch.h"

#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

constexpr int64_t line = 64;        // bytes
constexpr int64_t page = 4096;      // bytes; processors follow a stream of reads to the end of its page
constexpr int64_t longPiece = 512;  // bytes; from here on they have guessed how it goes on
constexpr int64_t rowsAhead = 8;    // enough for memory's latency with a hundred cycles' work a row
constexpr int64_t cached = 2 << 20; // bytes; rows that span less may all be in a cache near by, which is fast enough

/// A read of pieces of rows.
struct RowRead {
  memref::LoadOp load;
  scf::ForOp along;  // counts the elements of a piece, which are the block's last dimension
  scf::ForOp rows;   // goes from row to row
  unsigned position; // of the dimension that `rows` counts
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
  RowRead read{load, loops.front(), nullptr, 0};
  for (scf::ForOp loop : ArrayRef(loops).drop_front()) {
    auto counted = llvm::find(load.getIndices(), loop.getInductionVar());
    bool counts = counted != load.getIndices().end();
    // Around the rows, a loop that counts no dimension would read everything again, from a cache by then.
    if (!counts && read.rows)
      return std::nullopt;
    if (counts && !read.rows) {
      read.rows = loop;
      read.position = static_cast<unsigned>(counted - load.getIndices().begin());
    }
  }
  if (!read.rows || read.position + 1 == type.getRank())
    return std::nullopt;
  auto isOutside = [&](Value value) { return read.rows.isDefinedOutsideOfLoop(value); };
  for (auto [position, index] : llvm::enumerate(load.getIndices().drop_back()))
    if (position != read.position && !isOutside(index))
      return std::nullopt;
  if (!isOutside(read.along.getLowerBound()) || !isOutside(read.along.getUpperBound()))
    return std::nullopt;
  return read;
}

void prefetch(const RowRead& read) {
  scf::ForOp rows = read.rows, along = read.along;
  memref::LoadOp load = read.load;
  Location loc = load.getLoc();
  auto bytes = static_cast<int64_t>(RecordType::sizeInBytes(load.getType()));
  OpBuilder builder(rows);
  auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(loc, value); };
  auto compare = [&](arith::CmpIPredicate how, Value left, int64_t right) -> Value {
    return builder.create<arith::CmpIOp>(loc, how, left, constant(right));
  };
  auto shape = builder.create<memref::ExtractStridedMetadataOp>(loc, load.getMemRef());
  Value piece = builder.create<arith::SubIOp>(loc, along.getUpperBound(), along.getLowerBound());
  Value isShort = compare(arith::CmpIPredicate::sle, piece, longPiece / bytes);
  Value stride = shape.getStrides()[read.position];
  Value isFar = compare(arith::CmpIPredicate::sge, stride, (page + bytes - 1) / bytes);
  Value count = builder.create<arith::SubIOp>(loc, rows.getUpperBound(), rows.getLowerBound());
  Value isLarge = compare(arith::CmpIPredicate::sge, builder.create<arith::MulIOp>(loc, count, stride), cached / bytes);
  Value pays =
      builder.create<arith::AndIOp>(loc, isShort, builder.create<arith::AndIOp>(loc, isFar, isLarge).getResult());
  Value last = builder.create<arith::SubIOp>(loc, rows.getUpperBound(), constant(1));
  builder.setInsertionPointToStart(rows.getBody());
  auto when = builder.create<scf::IfOp>(loc, pays);
  builder.setInsertionPointToStart(when.thenBlock());
  Value ahead = builder.create<arith::AddIOp>(loc, rows.getInductionVar(), constant(rowsAhead));
  Value row = builder.create<arith::MinSIOp>(loc, ahead, last);
  auto lines = builder.create<scf::ForOp>(loc, along.getLowerBound(), along.getUpperBound(),
                                          constant(std::max<int64_t>(line / bytes, 1)));
  builder.setInsertionPointToStart(lines.getBody());
  SmallVector<Value> indices(load.getIndices());
  indices[read.position] = row;
  indices.back() = lines.getInductionVar();
  builder.create<memref::PrefetchOp>(loc, load.getMemRef(), indices, /*isWrite=*/false, /*localityHint=*/3,
                                     /*isDataCache=*/true);
}

struct PrefetchRowsPass : PassWrapper<PrefetchRowsPass, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrefetchRowsPass)
  StringRef getArgument() const final { return "svm-prefetch-rows"; }
  StringRef getDescription() const final { return "ask for short pieces of rows before they are read"; }

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isStructured())
      return;
    SmallVector<RowRead> reads;
    kernel.walk([&](memref::LoadOp load) {
      auto read = rowRead(load);
      auto isSame = [&](const RowRead& other) {
        RowRead known = other;
        return known.rows == read->rows && known.load.getMemRef() == load.getMemRef() &&
               known.position == read->position;
      };
      if (read && llvm::none_of(reads, isSame))
        reads.push_back(*read);
    });
    for (const RowRead& read : reads)
      prefetch(read);
  }
};

} // namespace

std::unique_ptr<Pass> createPrefetchRowsPass() {
  return std::make_unique<PrefetchRowsPass>();
}

} // namespace strata::kernel
