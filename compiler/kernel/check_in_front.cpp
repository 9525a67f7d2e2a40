// Checks that are made for all iterations of a nest at once, in front of it: of indices that grow with its loops, and
// of what stays the same. What is divided by that stands in front of it, too.
//
// Source: Gupta, "Optimizing Array Bound Checks Using Flow Analysis" (1993), where a check becomes one of a loop's
// range.
#include "compiler/kernel/nests.h"
#include "compiler/kernel/sums.h"

#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

/// A loop of the nest with what an index grows by in each of its iterations: a constant, or a value from in front of
/// the nest.
struct Stride {
  scf::ForOp loop;
  int64_t factor = 0;
  Value by;
};

/// What stands in front of a nest that a loop's number is multiplied with in a value; null where it is none.
Value multiplierOf(scf::ForOp nest, scf::ForOp loop, Value value) {
  const auto behindCasts = [](Value of) {
    const auto isWord = [](Type type) { return type.isIndex() || type.isInteger(64); };
    for (auto cast = of.getDefiningOp<arith::IndexCastOp>(); cast && isWord(cast.getIn().getType());
         cast = of.getDefiningOp<arith::IndexCastOp>())
      of = cast.getIn();
    return of;
  };
  auto product = value.getDefiningOp<arith::MulIOp>();
  for (unsigned side : {0, 1})
    if (product && behindCasts(product->getOperand(side)) == loop.getInductionVar() &&
        nest.isDefinedOutsideOfLoop(product->getOperand(1 - side)))
      return product->getOperand(1 - side);
  return {};
}

/// The loops that an index grows with; nothing where it does not just grow with them, or the check is not reached in
/// all of their iterations.
std::optional<SmallVector<Stride>> stridesOf(scf::ForOp nest, IndexOp check, const Sum& index) {
  if (!nest.isDefinedOutsideOfLoop(check.getExtent()))
    return std::nullopt;
  SmallVector<Stride> strides;
  unsigned known = 0;
  for (Operation* around = check->getParentOp();; around = around->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(around);
    if (!loop || !loop.getInductionVar().getType().isIndex() || !matchPattern(loop.getStep(), m_One()) ||
        !nest.isDefinedOutsideOfLoop(loop.getLowerBound()) || !nest.isDefinedOutsideOfLoop(loop.getUpperBound()))
      return std::nullopt;
    const int64_t factor = index.factorOf(loop.getInductionVar());
    if (factor < 0)
      return std::nullopt;
    if (factor > 0)
      strides.push_back({loop, factor, {}});
    known += factor > 0;
    for (const auto& [value, times] : index.terms)
      if (Value by = times == 1 ? multiplierOf(nest, loop, value) : Value()) {
        strides.push_back({loop, 1, by});
        ++known;
      }
    if (loop == nest)
      break;
  }
  // Nothing else in it changes within the nest.
  const auto changing = llvm::count_if(
      index.terms, [&](const auto& term) { return term.second != 0 && !nest.isDefinedOutsideOfLoop(term.first); });
  return changing == known ? std::optional(strides) : std::nullopt;
}

/// Whether an index stays in [0, extent): its first value does, and what is left behind that has room for all steps of
/// one loop after another. Exact, also where sums of 64 bits wrap; false where a loop has no iteration, or the index
/// shrinks.
Value staysWithin(OpBuilder& builder, mlir::Location place, scf::ForOp nest, const Sum& index, ArrayRef<Stride> strides,
                  Value extent) {
  const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
  const auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return builder.create<arith::CmpIOp>(place, predicate, a, b);
  };
  const auto subtract = [&](Value a, Value b) -> Value { return builder.create<arith::SubIOp>(place, a, b); };
  const auto asIndex = [&](Value value) -> Value {
    return value.getType().isIndex() ? value : builder.create<arith::IndexCastOp>(place, builder.getIndexType(), value);
  };
  const auto times = [&](Value value, const Stride& stride) -> Value {
    if (stride.by)
      return builder.create<arith::MulIOp>(place, value, asIndex(stride.by));
    return stride.factor == 1 ? value
                              : builder.create<arith::MulIOp>(place, value, constant(stride.factor)).getResult();
  };
  Value first = constant(index.constant);
  const auto add = [&](Value value) { first = builder.create<arith::AddIOp>(place, first, value); };
  for (const auto& [value, factor] : index.terms)
    if (factor != 0 && nest.isDefinedOutsideOfLoop(value))
      add(times(asIndex(value), {{}, factor, {}}));
  for (const Stride& stride : strides)
    add(times(scf::ForOp(stride.loop).getLowerBound(), stride));
  Value holds = compare(arith::CmpIPredicate::ult, first, extent);
  Value room = subtract(subtract(extent, constant(1)), first);
  for (const Stride& stride : strides) {
    scf::ForOp loop = stride.loop;
    Value steps = subtract(subtract(loop.getUpperBound(), loop.getLowerBound()), constant(1));
    Value most = room;
    SmallVector<Value, 3> conditions = {compare(arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound())};
    if (stride.by) {
      Value by = asIndex(stride.by);
      conditions.push_back(compare(arith::CmpIPredicate::sgt, by, constant(0)));
      most = builder.create<arith::DivUIOp>(place, room, builder.create<arith::MaxUIOp>(place, by, constant(1)));
    } else if (stride.factor > 1) {
      most = builder.create<arith::DivUIOp>(place, room, constant(stride.factor));
    }
    conditions.push_back(compare(arith::CmpIPredicate::ule, steps, most));
    for (Value each : conditions)
      holds = builder.create<arith::AndIOp>(place, holds, each);
    room = subtract(room, times(steps, stride));
  }
  return holds;
}

/// What does not change in the nest goes in front of it; divisions, too, which divide by 1 where they would fail: where
/// they do, the nest is not reached.
void moveSteady(scf::ForOp nest) {
  for (bool changed = true; changed;) {
    nest->walk<WalkOrder::PostOrder>([](scf::ForOp loop) { moveInvariants(loop); });
    SmallVector<Operation*> divisions;
    nest->walk([&](Operation* op) {
      if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op) &&
          llvm::all_of(op->getOperands(), [&](Value operand) { return nest.isDefinedOutsideOfLoop(operand); }))
        divisions.push_back(op);
    });
    changed = !divisions.empty();
    for (Operation* op : divisions) {
      OpBuilder builder(nest);
      const mlir::Location place = op->getLoc();
      Value dividend = op->getOperand(0), divisor = op->getOperand(1);
      const Type type = divisor.getType();
      const auto is = [&](Value value, const APInt& number) -> Value {
        return builder.create<arith::CmpIOp>(
            place, arith::CmpIPredicate::eq, value,
            builder.create<arith::ConstantOp>(place, builder.getIntegerAttr(type, number)));
      };
      const unsigned bits = type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
      Value fails = is(divisor, APInt(bits, 0));
      if (isa<arith::DivSIOp, arith::RemSIOp>(op)) {
        Value overflows = builder.create<arith::AndIOp>(place, is(dividend, APInt::getSignedMinValue(bits)),
                                                        is(divisor, APInt::getAllOnes(bits)));
        fails = builder.create<arith::OrIOp>(place, fails, overflows);
      }
      Value one = builder.create<arith::ConstantOp>(place, builder.getIntegerAttr(type, APInt(bits, 1)));
      op->setOperand(1, builder.create<arith::SelectOp>(place, fails, one, divisor));
      op->moveBefore(nest);
    }
  }
}

} // namespace

scf::IfOp checkInFront(scf::ForOp nest) {
  SmallVector<Operation*> checks;
  nest->walk([&](Operation* op) {
    if (isa<IndexOp, CheckOp>(op))
      checks.push_back(op);
  });
  if (checks.empty())
    return {};
  moveSteady(nest);
  const mlir::Location place = nest.getLoc();
  OpBuilder builder(nest);
  auto all = builder.create<scf::IfOp>(place, builder.getI1Type(), builder.create<arith::ConstantIntOp>(place, 1, 1),
                                       /*withElseRegion=*/true);
  builder.setInsertionPointToStart(all.elseBlock());
  builder.create<scf::YieldOp>(place, builder.create<arith::ConstantIntOp>(place, 0, 1).getResult());
  builder.setInsertionPointToStart(all.thenBlock());
  Value holds;
  const auto require = [&](Operation* check, Value each) {
    holds = holds ? builder.create<arith::AndIOp>(check->getLoc(), holds, each).getResult() : each;
  };
  llvm::SmallDenseSet<std::pair<Value, Value>> known;
  for (Operation* op : checks) {
    if (auto check = dyn_cast<CheckOp>(op)) {
      if (!nest.isDefinedOutsideOfLoop(check.getCondition()))
        continue;
      require(check, check.getCondition());
      check.erase();
      continue;
    }
    auto check = cast<IndexOp>(op);
    const Sum index = sumOf(check.getIndex());
    const std::optional<SmallVector<Stride>> strides = stridesOf(nest, check, index);
    if (!strides)
      continue;
    if (known.insert({check.getIndex(), check.getExtent()}).second)
      require(check, staysWithin(builder, check.getLoc(), nest, index, *strides, check.getExtent()));
    check.erase();
  }
  if (!holds) {
    all.erase();
    return {};
  }
  builder.create<scf::YieldOp>(place, holds);
  return all;
}

} // namespace strata::kernel
