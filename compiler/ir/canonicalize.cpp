// MLIR's patterns by their names, which nothing else tells apart; tests/transform/canonicalize.mlir notices when one
// has another name, and when MLIR gets them right.
#include "compiler/ir/canonicalize.h"

#include "compiler/ir/passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace strata::svm {
namespace {

/// How far a loop's upper bound is above its lower one, 0 where it is not above; nothing where that is not known.
std::optional<APInt> distanceOf(scf::ForOp loop) {
  APInt lower, upper, more;
  if (matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) &&
      matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)))
    return lower.slt(upper) ? upper - lower : APInt(lower.getBitWidth(), 0); // without a sign: all 64 bits count
  auto sum = loop.getUpperBound().getDefiningOp<arith::AddIOp>();
  if (!sum || !bitEnumContainsAll(sum.getOverflowFlags(), arith::IntegerOverflowFlags::nsw))
    return std::nullopt;
  for (unsigned side : {0, 1})
    if (sum->getOperand(side) == loop.getLowerBound() && matchPattern(sum->getOperand(1 - side), m_ConstantInt(&more)))
      return more.isStrictlyPositive() ? more : APInt(more.getBitWidth(), 0);
  return std::nullopt;
}

struct SimplifyLoop : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop, PatternRewriter& rewriter) const override {
    const bool isSame = loop.getLowerBound() == loop.getUpperBound();
    const std::optional<APInt> distance = isSame ? std::optional(APInt(64, 0)) : distanceOf(loop);
    if (!distance)
      return failure();
    if (distance->isZero()) {
      rewriter.replaceOp(loop, loop.getInitArgs());
      return success();
    }
    const std::optional<APInt> step = loop.getConstantStep();
    if (step && step->isStrictlyPositive() && step->uge(*distance)) {
      SmallVector<Value> arguments{loop.getLowerBound()};
      llvm::append_range(arguments, loop.getInitArgs());
      Operation* yield = loop.getBody()->getTerminator();
      const SmallVector<Value> results(yield->getOperands());
      rewriter.eraseOp(yield);
      // What the body yields may be one of its arguments.
      SmallVector<Value> replaced;
      for (Value result : results) {
        auto argument = dyn_cast<BlockArgument>(result);
        replaced.push_back(argument && argument.getOwner() == loop.getBody() ? arguments[argument.getArgNumber()]
                                                                             : result);
      }
      rewriter.inlineBlockBefore(loop.getBody(), loop, arguments);
      rewriter.replaceOp(loop, replaced);
      return success();
    }
    // It has iterations, and does nothing in them but yield what is outside.
    auto isOutside = [&](Value value) { return value.getParentBlock() != loop.getBody(); };
    auto yielded = loop.getBody()->getTerminator()->getOperands();
    if (loop.getNumResults() == 0 || !llvm::hasSingleElement(*loop.getBody()) || !llvm::all_of(yielded, isOutside))
      return failure();
    rewriter.replaceOp(loop, SmallVector<Value>(yielded));
    return success();
  }
};

class CanonicalizePass : public PassWrapper<CanonicalizePass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalizePass)

  LogicalResult initialize(MLIRContext* context) override {
    RewritePatternSet all(context);
    for (Dialect* dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName operation : context->getRegisteredOperations())
      operation.getCanonicalizationPatterns(all, context);
    all.add<SimplifyLoop>(context);
    patterns_ =
        FrozenRewritePatternSet(std::move(all), {"(anonymous namespace)::SimplifyTrivialLoops",
                                                 "(anonymous namespace)::ParallelOpSingleOrZeroIterationDimsFolder"});
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config; // as MLIR's own pass has it
    config.useTopDownTraversal = true;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Normal;
    (void)applyPatternsAndFoldGreedily(getOperation(), patterns_, config);
  }

private:
  FrozenRewritePatternSet patterns_;
};

} // namespace

std::unique_ptr<Pass> createCanonicalizePass() {
  return makePass<CanonicalizePass>(passes::Canonicalize);
}

} // namespace strata::svm
