// Equalities from checks. A check that fails ends the program, so that everything it dominates may rely on it.
#include "compiler/transform/use_equalities.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"

#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

struct UseEqualitiesPass : PassWrapper<UseEqualitiesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UseEqualitiesPass)

  void runOnOperation() override {
    DominanceInfo dominance(getOperation());
    SmallVector<CheckOp> checks;
    getOperation().walk([&](CheckOp check) { checks.push_back(check); });
    for (CheckOp check : checks) {
      auto equal = check.getCondition().getDefiningOp<arith::CmpIOp>();
      if (!equal || equal.getPredicate() != arith::CmpIPredicate::eq)
        continue;
      Value kept = equal.getLhs(), other = equal.getRhs();
      // A constant says more than a value; of two values the one that is there first is kept.
      if (matchPattern(other, m_Constant()) ||
          (!matchPattern(kept, m_Constant()) && dominance.properlyDominates(other, equal.getOperation()) &&
           other.getDefiningOp() && kept.getDefiningOp() && dominance.dominates(other, kept.getDefiningOp())))
        std::swap(kept, other);
      if (kept == other || matchPattern(other, m_Constant()))
        continue;
      other.replaceUsesWithIf(kept, [&](OpOperand& use) { return dominance.properlyDominates(check, use.getOwner()); });
    }
  }
};

} // namespace

std::unique_ptr<Pass> createUseEqualitiesPass() {
  return svm::makePass<UseEqualitiesPass>(svm::passes::UseEqualities);
}

} // namespace strata::transform
