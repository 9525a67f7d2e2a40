// Checks of indices that are made for all iterations of a nest at once, in front of it.
//
// Source: Gupta, "Optimizing Array Bound Checks Using Flow Analysis" (1993), where a check becomes one of a loop's
// range.
#include "compiler/kernel/nests.h"
#include "compiler/kernel/sums.h"

#include "compiler/ir/svm.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

/// A loop of the nest with what an index grows by in each of its iterations.
struct Stride {
  scf::ForOp loop;
  int64_t factor = 0;
};

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
      strides.push_back({loop, factor});
    known += factor > 0;
    if (loop == nest)
      break;
  }
  // Nothing else in it changes within the nest.
  const auto changing = llvm::count_if(
      index.terms, [&](const auto& term) { return term.second != 0 && !nest.isDefinedOutsideOfLoop(term.first); });
  return changing == known ? std::optional(strides) : std::nullopt;
}

/// Whether an index stays in [0, extent): its first value does, and what is left behind that has room for all steps of
/// one loop after another. Exact, also where sums of 64 bits wrap; false where a loop has no iteration.
Value staysWithin(OpBuilder& builder, mlir::Location place, const Sum& index, ArrayRef<Stride> strides, Value extent) {
  const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
  const auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return builder.create<arith::CmpIOp>(place, predicate, a, b);
  };
  const auto subtract = [&](Value a, Value b) -> Value { return builder.create<arith::SubIOp>(place, a, b); };
  const auto times = [&](Value value, int64_t factor) -> Value {
    return factor == 1 ? value : builder.create<arith::MulIOp>(place, value, constant(factor)).getResult();
  };
  Value first = constant(index.constant);
  const auto add = [&](Value value, int64_t factor) {
    if (!value.getType().isIndex())
      value = builder.create<arith::IndexCastOp>(place, builder.getIndexType(), value);
    first = builder.create<arith::AddIOp>(place, first, times(value, factor));
  };
  for (const auto& [value, factor] : index.terms) {
    const auto* stride = llvm::find_if(strides, [&](Stride each) { return each.loop.getInductionVar() == value; });
    if (factor != 0)
      add(stride == strides.end() ? value : Value(scf::ForOp(stride->loop).getLowerBound()), factor);
  }
  Value holds = compare(arith::CmpIPredicate::ult, first, extent);
  Value room = subtract(subtract(extent, constant(1)), first);
  for (auto [loop, factor] : strides) {
    Value steps = subtract(subtract(loop.getUpperBound(), loop.getLowerBound()), constant(1));
    Value most = factor == 1 ? room : builder.create<arith::DivUIOp>(place, room, constant(factor)).getResult();
    for (Value each : {compare(arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound()),
                       compare(arith::CmpIPredicate::ule, steps, most)})
      holds = builder.create<arith::AndIOp>(place, holds, each);
    room = subtract(room, times(steps, factor));
  }
  return holds;
}

} // namespace

Value checkRanges(scf::ForOp nest, OpBuilder& builder) {
  SmallVector<IndexOp> checks;
  nest->walk([&](IndexOp check) { checks.push_back(check); });
  Value holds;
  llvm::SmallDenseSet<std::pair<Value, Value>> known;
  for (IndexOp check : checks) {
    const Sum index = sumOf(check.getIndex());
    const std::optional<SmallVector<Stride>> strides = stridesOf(nest, check, index);
    if (!strides)
      continue;
    if (known.insert({check.getIndex(), check.getExtent()}).second) {
      Value each = staysWithin(builder, check.getLoc(), index, *strides, check.getExtent());
      holds = holds ? builder.create<arith::AndIOp>(check.getLoc(), holds, each).getResult() : each;
    }
    check.erase();
  }
  return holds;
}

} // namespace strata::kernel
