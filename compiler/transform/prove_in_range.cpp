// The pass over functions and kernels: each check is put to RangeAnalysis at its point, in program order. A check that
// stays is remembered with the expressions that it compared; a later one of the same expressions in the same block or
// in one inside it cannot fail.
#include "compiler/transform/prove_in_range.h"

#include "compiler/ir/passes.h"
#include "compiler/transform/range_analysis.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace strata::transform {
namespace {

class ProveInRangePass : public PassWrapper<ProveInRangePass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ProveInRangePass)

  void runOnOperation() override {
    getOperation()->walk([](FunctionOpInterface function) { runOnFunction(function); });
  }

private:
  static void runOnFunction(FunctionOpInterface function) {
    SmallVector<svm::IndexOp> checks;
    function->walk([&](svm::IndexOp check) { checks.push_back(check); });
    if (checks.empty())
      return;
    RangeAnalysis analysis(function);
    std::map<std::pair<Linear, Linear>, SmallPtrSet<Block*, 1>> passed;
    for (svm::IndexOp check : checks) {
      analysis.moveTo(check);
      auto& places = passed[{analysis.valueOf(check.getIndex()), analysis.valueOf(check.getExtent())}];
      bool repeats = llvm::any_of(analysis.around(), [&](Block* block) { return places.contains(block); });
      if (repeats || analysis.isInRange(check.getIndex(), check.getExtent()))
        check.erase();
      else
        places.insert(check->getBlock());
    }
  }
};

} // namespace

std::unique_ptr<Pass> createProveInRangePass() {
  return svm::makePass<ProveInRangePass>(svm::passes::ProveInRange);
}

} // namespace strata::transform
