// Which loop of a tile all rows go through alike, and what they read there side by side in the lanes: a panel of
// columns of it serves all rows, and may be copied into scratch memory, tile after tile. A tile's part of rows that lie
// apart falls on a few sets of the caches where the distance is a power of two, and on a page for each row; of the copy
// every line is used. What lies side by side along that loop instead, and apart in the lanes, is packed: the copy has
// it the other way round.
//
// Source: Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008).
#include "compiler/kernel/nests.h"
#include "compiler/kernel/tiles.h"

#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

/// A loop in the tile, with bounds that are there in front of the nest.
bool isAlong(const TilePlan& plan, scf::ForOp loop) {
  scf::ForOp rows = plan.rows;
  return matchPattern(loop.getStep(), m_One()) && llvm::all_of(loop->getOperands().take_front(2), [&](Value bound) {
           return rows.isDefinedOutsideOfLoop(bound);
         });
}

/// Whether a load in the loop gives all rows the same elements, other ones in each iteration.
bool isShared(const TilePlan& plan, scf::ForOp along, memref::LoadOp load) {
  const TileKind kind = plan.kindOf(load.getResult());
  return kind.lane != Lane::Uniform && !kind.isRow &&
         (plan.packed.contains(load) || rowIndex(plan, load.getMemRef(), load.getIndices())) &&
         llvm::any_of(load.getIndices(), [&](Value index) { return !along.isDefinedOutsideOfLoop(index); });
}

/// Whether a value grows by one from iteration to iteration of a loop.
bool countsIterations(const TilePlan& plan, scf::ForOp loop, Value value) {
  if (value == loop.getInductionVar())
    return true;
  scf::ForOp rows = plan.rows;
  const auto isWord = [](Type type) { return type.isIndex() || type.isInteger(64); };
  Operation* op = value.getDefiningOp();
  if (op && isa<arith::IndexCastOp>(op) && isWord(op->getOperand(0).getType()) && isWord(value.getType()))
    return countsIterations(plan, loop, op->getOperand(0));
  if (op && isa<arith::AddIOp>(op) && rows.isDefinedOutsideOfLoop(op->getOperand(0)))
    return countsIterations(plan, loop, op->getOperand(1));
  return op && isa<arith::AddIOp, arith::SubIOp>(op) && rows.isDefinedOutsideOfLoop(op->getOperand(1)) &&
         countsIterations(plan, loop, op->getOperand(0));
}

/// Whether neighbouring lanes reach elements of neighbouring rows of a block, all at one place in these, and
/// neighbouring iterations neighbouring elements.
bool isCrosswise(const TilePlan& plan, scf::ForOp along, memref::LoadOp load) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  const ValueRange indices = load.getIndices();
  if (indices.size() < 2 || plan.kindOf(load.getResult()).isRow ||
      failed(getStridesAndOffset(load.getMemRefType(), strides, offset)) || strides.back() != 1 ||
      !countsIterations(plan, along, indices.back()))
    return false;
  unsigned consecutive = 0;
  for (Value index : indices.drop_back()) {
    if (plan.kindOf(index).lane == Lane::Varying || !along.isDefinedOutsideOfLoop(index))
      return false;
    consecutive += plan.kindOf(index).lane == Lane::Consecutive;
  }
  return consecutive == 1;
}

/// Whether what a row reads could as well have been copied before the first row: every row reads it, in every iteration
/// of the loop, wherever the tile is; and nobody writes it.
bool canBeCopied(const TilePlan& plan, scf::ForOp along, memref::LoadOp load) {
  scf::ForOp lanes = plan.lanes;
  auto kernel = lanes->getParentOfType<KernelOp>();
  if (load->getParentOp() != along || along->getParentOp() != lanes || !isApart(load.getMemRef()) ||
      kernel.getMayAlias())
    return false;
  const bool isWritten =
      lanes
          ->walk([&](memref::StoreOp store) {
            return store.getMemRef() == load.getMemRef() ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  return !isWritten &&
         llvm::all_of(load.getIndices(), [&](Value index) { return operationsOf(plan, along, index).has_value(); });
}

/// Whether rows reach neighbouring elements, the same ones in all lanes, and iterations of the loop elements of another
/// row of the block.
bool isCrossed(const TilePlan& plan, scf::ForOp along, memref::LoadOp load) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  const ValueRange indices = load.getIndices();
  return indices.size() > 1 && plan.kindOf(load.getResult()).lane == Lane::Uniform &&
         succeeded(getStridesAndOffset(load.getMemRefType(), strides, offset)) && strides.back() == 1 &&
         countsIterations(plan, plan.rows, indices.back()) &&
         llvm::none_of(indices.drop_back(), [&](Value index) { return plan.kindOf(index).isRow; }) &&
         llvm::any_of(indices.drop_back(), [&](Value index) { return !along.isDefinedOutsideOfLoop(index); });
}

} // namespace

std::optional<SmallVector<Operation*>> operationsOf(const TilePlan& plan, scf::ForOp along, Value index) {
  scf::ForOp lanes = plan.lanes, rows = plan.rows;
  SmallVector<Operation*> found;
  const auto collect = [&](auto& self, Value value) -> bool {
    if (value == lanes.getInductionVar() || value == rows.getInductionVar() || value == along.getInductionVar() ||
        rows.isDefinedOutsideOfLoop(value))
      return true;
    Operation* op = value.getDefiningOp();
    if (!op || op->getNumRegions() || !canExecuteAnywhere(op))
      return false;
    if (llvm::is_contained(found, op))
      return true;
    if (!llvm::all_of(op->getOperands(), [&](Value operand) { return self(self, operand); }))
      return false;
    found.push_back(op);
    return true;
  };
  if (!collect(collect, index))
    return std::nullopt;
  return found;
}

void planPacked(TilePlan& plan) {
  if (!plan.rows)
    return;
  scf::ForOp(plan.lanes).getBody()->walk([&](scf::ForOp loop) {
    if (isAlong(plan, loop))
      loop.getBody()->walk([&](memref::LoadOp load) {
        if (isCrosswise(plan, loop, load) && canBeCopied(plan, loop, load))
          plan.packed.insert(load);
      });
  });
}

void planPanel(TilePlan& plan, const machine::Figures& figures) {
  if (!plan.rows || plan.rowCount < 2 || plan.skewed)
    return;
  scf::ForOp(plan.lanes).getBody()->walk([&](scf::ForOp loop) {
    if (!isAlong(plan, loop))
      return;
    uint64_t bytes = 0;
    SmallVector<memref::LoadOp, 2> copied;
    loop.getBody()->walk([&](memref::LoadOp load) {
      if (!isShared(plan, loop, load))
        return;
      bytes += RecordType::sizeInBytes(load.getType());
      if (canBeCopied(plan, loop, load))
        copied.push_back(load);
    });
    if (bytes <= plan.bytesAlong)
      return;
    plan.along = loop;
    plan.bytesAlong = bytes;
    plan.panelBytes = figures.panelBytes();
    plan.copied = std::move(copied);
  });
  if (scf::ForOp along = plan.along; !plan.copied.empty())
    along.getBody()->walk([&](memref::LoadOp load) {
      if (isCrossed(plan, along, load) && canBeCopied(plan, along, load))
        plan.crossed.push_back(load);
    });
  // Those of another loop are gathered.
  llvm::DenseSet<Operation*> packed;
  for (memref::LoadOp load : plan.copied)
    if (plan.packed.contains(load))
      packed.insert(load);
  plan.packed = std::move(packed);
}

} // namespace strata::kernel
