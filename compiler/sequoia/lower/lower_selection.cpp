// Which of a callsite's targets is called. Conditions on sizes are judged where the call is; where selections are
// counted, one is made for a whole nest of iterations before it begins, and the counts are kept in a block that is
// handed from caller to callee as an inout argument would be.
#include "compiler/sequoia/lower/lower_body.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;

namespace strata::sequoia {

using mlir::Value;

arith::CmpIPredicate predicateOf(Relation relation) {
  switch (relation) {
  case Relation::Less:
    return arith::CmpIPredicate::slt;
  case Relation::AtMost:
    return arith::CmpIPredicate::sle;
  case Relation::Equal:
    return arith::CmpIPredicate::eq;
  case Relation::AtLeast:
    return arith::CmpIPredicate::sge;
  case Relation::Greater:
    return arith::CmpIPredicate::sgt;
  }
  return arith::CmpIPredicate::eq;
}

Value BodyLowering::boundHolds(const SizeBound& bound, mlir::ValueRange extents) {
  Value all = truth(true);
  for (auto [extent, value] : llvm::zip(extents, bound.values))
    all = both(all, compare(predicateOf(bound.relation), extent, indexConstant(value)));
  return all;
}

Value BodyLowering::targetHolds(const ResolvedTarget& target) {
  Value all = truth(true);
  for (const ResolvedCondition& condition : target.conditions) {
    if (condition.array) {
      all = both(all, boundHolds(condition.bound, own_.bindings[condition.array].extents));
      continue;
    }
    const std::vector<uint32_t>& counted = module_.graph.counted;
    auto position = std::lower_bound(counted.begin(), counted.end(), target.instance) - counted.begin();
    Value count = make<memref::LoadOp>(counts_, mlir::ValueRange(indexConstant(position)));
    Value bound = integer(builder_.getI64Type(), static_cast<uint64_t>(condition.bound.values[0]));
    all = both(all, compare(predicateOf(condition.bound.relation), count, bound));
  }
  return all;
}

bool BodyLowering::isCountedAt(const ResolvedCallsite& site) const {
  for (const ResolvedTarget& target : site.targets)
    if (module_.graph.isCounted(target.instance))
      return true;
  return false;
}

Value BodyLowering::select(const ResolvedCallsite& site) {
  Value selected = indexConstant(-1), none = truth(true);
  for (auto [position, target] : llvm::enumerate(site.targets)) {
    Value holds = targetHolds(target);
    selected = builder_.createOrFold<arith::SelectOp>(place_, both(none, holds),
                                                      indexConstant(static_cast<int64_t>(position)), selected);
    none = both(none, inverse(holds));
  }
  for (auto [position, instance] : llvm::enumerate(module_.graph.counted)) {
    Value isSelected;
    for (auto [number, target] : llvm::enumerate(site.targets)) {
      if (target.instance != instance)
        continue;
      Value here = compare(arith::CmpIPredicate::eq, selected, indexConstant(static_cast<int64_t>(number)));
      isSelected = isSelected ? folded<arith::OrIOp>(isSelected, here) : here;
    }
    if (!isSelected)
      continue;
    Value index = indexConstant(static_cast<int64_t>(position));
    Value count = make<memref::LoadOp>(counts_, mlir::ValueRange(index));
    Value one = make<arith::ExtUIOp>(builder_.getI64Type(), isSelected);
    make<memref::StoreOp>(make<arith::AddIOp>(count, one), counts_, mlir::ValueRange(index));
  }
  return selected;
}

void BodyLowering::selectBefore(const Stmt& map) {
  const Stmt* call = map.body;
  while (call && call->kind != StmtKind::TaskCall)
    call = call->kind == StmtKind::Map                                        ? call->body
           : call->kind == StmtKind::Compound && call->statements.size() == 1 ? call->statements[0]
                                                                              : nullptr;
  if (!call)
    return;
  at(map.location);
  auto selectAt = [&](const Callsite& callsite) {
    if (const ResolvedCallsite& site = resolved(callsite); isCountedAt(site))
      selected_[&callsite] = select(site);
  };
  selectAt(*call->callsite);
  for (const Argument& argument : call->arguments)
    if (argument.combiner)
      selectAt(*argument.combiner);
}

/// The entry point's: nothing has been selected yet.
void BodyLowering::makeCounts() {
  const size_t count = module_.graph.counted.size();
  counts_ = makeWords("selection counts", static_cast<int64_t>(count), instance_.controlLevel);
  Value zero = integer(builder_.getI64Type(), 0);
  for (size_t position = 0; position < count; ++position)
    make<memref::StoreOp>(zero, counts_, mlir::ValueRange(indexConstant(static_cast<int64_t>(position))));
}

} // namespace strata::sequoia
