// Loops in which a row of a tile reads what the row in front of it reads an iteration later: `image[i + u][j + v]`,
// with i in rows and u the loop's. Where rows begin such a loop one after the other, all reach image[y][j + v] at the
// same time, and one load serves all. Each row goes through its own iterations in their order.
//
// Source: the skewing of loops, Wolf and Lam 1991, by the rows of a tile.
#include "compiler/kernel/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace strata::kernel {
namespace {

/// How often the variables of the rows and of a loop are in a sum.
struct Shares {
  int rows = 0, loop = 0;
};

/// Nothing where a value is not known to be such a sum.
std::optional<Shares> sharesOf(const TilePlan& plan, Value value) {
  scf::ForOp rows = plan.rows, loop = plan.skewed;
  if (value == rows.getInductionVar())
    return Shares{1, 0};
  if (value == loop.getInductionVar())
    return Shares{0, 1};
  if (!plan.kindOf(value).isRow)
    return Shares();
  const auto isWord = [](Type type) { return type.isIndex() || type.isInteger(64); };
  Operation* op = value.getDefiningOp();
  if (op && isa<arith::IndexCastOp>(op) && isWord(op->getOperand(0).getType()) && isWord(value.getType()))
    return sharesOf(plan, op->getOperand(0));
  if (!op || !isa<arith::AddIOp, arith::SubIOp>(op) || !isWord(value.getType()))
    return std::nullopt;
  const auto left = sharesOf(plan, op->getOperand(0)), right = sharesOf(plan, op->getOperand(1));
  if (!left || !right)
    return std::nullopt;
  const int sign = isa<arith::SubIOp>(op) ? -1 : 1;
  return Shares{left->rows + sign * right->rows, left->loop + sign * right->loop};
}

bool areUniform(const TilePlan& plan, ValueRange values) {
  return llvm::all_of(values, [&](Value value) { return plan.kindOf(value).lane == Lane::Uniform; });
}

/// Whether rows may carry out an operation at different times: it changes nothing, and lanes reach no elements apart.
bool isTimeless(const TilePlan& plan, Operation* op) {
  if (auto inner = dyn_cast<scf::ForOp>(op))
    return areUniform(plan, inner->getOperands().take_front(3));
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return areUniform(plan, load.getIndices()) || rowIndex(plan, load.getMemRef(), load.getIndices());
  return isa<scf::YieldOp>(op) || (op->getNumRegions() == 0 && op->getNumResults() == 1 && isMemoryEffectFree(op));
}

} // namespace

bool canBeSkewed(const TilePlan& plan, scf::ForOp loop) {
  scf::ForOp rows = plan.rows;
  return rows && matchPattern(loop.getStep(), m_One()) && rows.isDefinedOutsideOfLoop(loop.getLowerBound()) &&
         rows.isDefinedOutsideOfLoop(loop.getUpperBound()) && loop.getNumResults() > 0 &&
         llvm::all_of(loop.getRegionIterArgs(), [&](Value value) { return plan.kindOf(value).isRow; }) &&
         !loop.getBody()
              ->walk(
                  [&](Operation* op) { return isTimeless(plan, op) ? WalkResult::advance() : WalkResult::interrupt(); })
              .wasInterrupted();
}

void findAlike(TilePlan& plan) {
  scf::ForOp(plan.skewed).getBody()->walk([&](memref::LoadOp load) {
    if (areUniform(plan, load.getIndices()))
      return;
    unsigned sums = 0, others = 0;
    for (Value index : load.getIndices()) {
      if (!plan.kindOf(index).isRow)
        continue;
      const std::optional<Shares> shares = sharesOf(plan, index);
      (shares && shares->rows == 1 && shares->loop == 1 ? sums : others) += 1;
    }
    if (sums > 0 && others == 0)
      plan.alike.insert(load);
  });
}

} // namespace strata::kernel
