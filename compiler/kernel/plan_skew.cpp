// Loops in which a row of a tile reads what the row in front of it reads an iteration later: `image[i + u][j + v]`,
// with i in rows and u the loop's. Where rows begin such a loop one after the other, all reach image[y][j + v] at the
// same time, and one load serves all. Each row goes through its own iterations in their order.
//
// Source: the skewing of loops, Wolf and Lam 1991, by the rows of a tile.
#include "compiler/kernel/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace strata::kernel {
namespace {

/// How often a variable is in a sum, by what it is multiplied by there: null for 1.
using Factors = llvm::SmallMapVector<Value, int, 2>;

/// How often the variables of the rows and of a loop are in a sum.
struct Shares {
  Factors rows, loop;
};

bool isWord(Type type) {
  return type.isIndex() || type.isInteger(64);
}

/// A value as it was before it changed between an index and 64 bits.
Value plain(Value value) {
  for (auto cast = value.getDefiningOp<arith::IndexCastOp>();
       cast && isWord(cast.getIn().getType()) && isWord(cast.getType());
       cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  return value;
}

void add(Factors& to, const Factors& from, int sign) {
  for (const auto& [factor, count] : from)
    to[factor] += sign * count;
  to.remove_if([](const auto& each) { return each.second == 0; });
}

/// A sum times a value that is the same everywhere; nothing where it is multiplied already.
std::optional<Factors> times(const Factors& factors, Value by) {
  Factors result;
  for (const auto& [factor, count] : factors) {
    if (factor)
      return std::nullopt;
    result[by] = count;
  }
  return result;
}

/// Nothing where a value is not known to be such a sum. As integers that wrap around, and so do its differences.
std::optional<Shares> sharesOf(const TilePlan& plan, Value value) {
  scf::ForOp rows = plan.rows, loop = plan.skewed;
  value = plain(value);
  if (value == rows.getInductionVar() || value == loop.getInductionVar()) {
    Shares itself;
    (value == rows.getInductionVar() ? itself.rows : itself.loop)[Value()] = 1;
    return itself;
  }
  if (!plan.kindOf(value).isRow)
    return Shares();
  Operation* op = value.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || !isWord(value.getType()))
    return std::nullopt;
  if (isa<arith::MulIOp>(op)) {
    for (const unsigned number : {0u, 1u}) {
      Value by = plain(op->getOperand(number));
      if (!rows.isDefinedOutsideOfLoop(by))
        continue;
      const auto shares = sharesOf(plan, op->getOperand(1 - number));
      const auto inRows = shares ? times(shares->rows, by) : std::nullopt;
      const auto inLoop = shares ? times(shares->loop, by) : std::nullopt;
      return inRows && inLoop ? std::optional(Shares{*inRows, *inLoop}) : std::nullopt;
    }
    return std::nullopt;
  }
  auto left = sharesOf(plan, op->getOperand(0));
  const auto right = sharesOf(plan, op->getOperand(1));
  if (!left || !right)
    return std::nullopt;
  const int sign = isa<arith::SubIOp>(op) ? -1 : 1;
  add(left->rows, right->rows, sign);
  add(left->loop, right->loop, sign);
  return left;
}

/// Whether a row has the index at an iteration of the loop that the row in front of it has at the next one.
bool isAlike(const Shares& shares) {
  return !shares.rows.empty() && shares.rows.size() == shares.loop.size() &&
         llvm::all_of(shares.rows, [&](const auto& each) { return shares.loop.lookup(each.first) == each.second; });
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
      (shares && isAlike(*shares) ? sums : others) += 1;
    }
    if (sums > 0 && others == 0)
      plan.alike.insert(load);
  });
}

} // namespace strata::kernel
