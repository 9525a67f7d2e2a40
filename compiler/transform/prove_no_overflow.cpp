// The pass over functions and kernels: each operation is put to RangeAnalysis at its point, block by block, for facts
// are collected anew for each block.
#include "compiler/transform/prove_no_overflow.h"

#include "compiler/ir/passes.h"
#include "compiler/transform/range_analysis.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace strata::transform {
namespace {

class ProveNoOverflowPass : public PassWrapper<ProveNoOverflowPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ProveNoOverflowPass)

  void runOnOperation() override {
    getOperation()->walk([](FunctionOpInterface function) {
      RangeAnalysis analysis(function);
      function->walk([&](Block* block) {
        for (Operation& op : *block)
          mark(&op, analysis);
      });
    });
  }

private:
  static void mark(Operation* op, RangeAnalysis& analysis) {
    auto sum = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
    if (!sum)
      return;
    analysis.moveTo(op);
    if (analysis.fits(op))
      op->setAttr(sum.getIntegerOverflowAttrName(),
                  arith::IntegerOverflowFlagsAttr::get(op->getContext(), arith::IntegerOverflowFlags::nsw));
  }
};

} // namespace

std::unique_ptr<Pass> createProveNoOverflowPass() {
  return svm::makePass<ProveNoOverflowPass>(svm::passes::ProveNoOverflow);
}

} // namespace strata::transform
