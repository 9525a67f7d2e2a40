// Copies of loop bodies, one after another. What an iteration makes (blocks, streams, tokens) ends with the iteration,
// so a copy that makes something is a scope of its own.
#include "compiler/transform/unroll_loops.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"
#include "compiler/transform/builders.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {

using mlir::Location;
namespace {

bool makesSomething(Block& body) {
  return llvm::any_of(body, [](Operation& op) {
    return isa<BlockOp, StreamOp>(op) || llvm::any_of(op.getResultTypes(), llvm::IsaPred<TokenType>);
  });
}

/// Adds one iteration at the builder's place; returns what it carries on. A loop that carries something on has been
/// made by the pipeliner, whose tokens and buffers outlive an iteration.
SmallVector<Value> copyBody(OpBuilder& builder, scf::ForOp loop, Value iteration, ValueRange carried) {
  OpBuilder::InsertionGuard restore(builder);
  Block& body = *loop.getBody();
  if (carried.empty() && makesSomething(body)) {
    auto scope = builder.create<ScopeOp>(loop.getLoc(), StringAttr(), UnitAttr());
    builder.setInsertionPointToStart(&scope.getBody().emplaceBlock());
  }
  IRMapping map;
  map.map(loop.getInductionVar(), iteration);
  map.map(loop.getRegionIterArgs(), carried);
  for (Operation& op : body.without_terminator())
    builder.clone(op, map);
  SmallVector<Value> next;
  for (Value value : body.getTerminator()->getOperands())
    next.push_back(map.lookupOrDefault(value));
  return next;
}

void flatten(scf::ForOp loop) {
  auto lower = getConstantIntValue(loop.getLowerBound()), upper = getConstantIntValue(loop.getUpperBound()),
       step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return;
  OpBuilder builder(loop);
  SmallVector<Value> carried(loop.getInitArgs());
  for (int64_t at = *lower; at < *upper; at += *step)
    carried = copyBody(builder, loop, builder.create<arith::ConstantIndexOp>(loop.getLoc(), at), carried);
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

void unroll(scf::ForOp loop, int64_t copies) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  IndexMath math(builder, loc);
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  Value span = math.max(math.sub(upper, lower), math.constant(0));
  Value stride = math.mul(step, math.constant(copies));
  Value rounds = builder.createOrFold<arith::DivUIOp>(
      loc, builder.createOrFold<arith::DivUIOp>(loc, math.add(span, math.sub(step, math.constant(1))), step),
      math.constant(copies));
  Value middle = math.add(lower, math.mul(rounds, stride));
  auto made = builder.create<scf::ForOp>(loc, lower, middle, stride, loop.getInitArgs());
  made->setAttrs(loop->getAttrs());
  {
    OpBuilder::InsertionGuard restore(builder);
    if (loop.getNumResults())
      builder.setInsertionPointToStart(made.getBody());
    else
      builder.setInsertionPoint(made.getBody()->getTerminator());
    SmallVector<Value> carried(made.getRegionIterArgs());
    for (int64_t copy = 0; copy < copies; ++copy) {
      IndexMath inside(builder, loc);
      Value iteration = inside.add(made.getInductionVar(), inside.mul(inside.constant(copy), step));
      carried = copyBody(builder, loop, iteration, carried);
    }
    if (loop.getNumResults())
      builder.create<scf::YieldOp>(loc, carried);
  }
  loop.setLowerBound(middle);
  loop.getInitArgsMutable().assign(made.getResults());
}

struct UnrollLoopsPass : PassWrapper<UnrollLoopsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnrollLoopsPass)

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk<WalkOrder::PostOrder>([&](scf::ForOp loop) {
      if (SvmDialect::unrollAttr.isOn(loop) || SvmDialect::flattenAttr.isOn(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      auto wanted = SvmDialect::unrollAttr.of(loop);
      bool isFlat = SvmDialect::flattenAttr.isOn(loop);
      loop->removeAttr(SvmDialect::unrollAttr);
      loop->removeAttr(SvmDialect::flattenAttr);
      if (isFlat) {
        flatten(loop);
        continue;
      }
      int64_t most =
          std::max<int64_t>(mostUnrolledOperations / std::max<int64_t>(operationsOf(loop.getRegion()), 1), 1);
      int64_t copies = std::min(wanted.getInt(), most);
      if (copies < wanted.getInt()) {
        auto name = SvmDialect::labelAttr.of(loop);
        loop.emitRemark() << (name ? "loop '" + name.getValue().str() + "'" : "this loop") << " is unrolled " << copies
                          << " times rather than " << wanted.getInt() << ": its body is large";
      }
      if (copies > 1)
        unroll(loop, copies);
    }
  }
};

} // namespace

/// How often a loop's body will stand in the program.
static int64_t copiesOf(Operation* op) {
  if (SvmDialect::flattenAttr.isOn(op)) {
    auto parallel = dyn_cast<ParallelOp>(op);
    auto loop = dyn_cast<scf::ForOp>(op);
    SmallVector<Value> from, to;
    if (parallel) {
      from = parallel.getLower();
      to = parallel.getUpper();
    } else if (loop) {
      from = {loop.getLowerBound()};
      to = {loop.getUpperBound()};
    }
    int64_t copies = 1;
    for (auto [first, last] : llvm::zip(from, to)) {
      auto lower = getConstantIntValue(first), upper = getConstantIntValue(last);
      int64_t span = 0;
      if (!lower || !upper || *upper <= *lower)
        return 1;
      if (__builtin_sub_overflow(*upper, *lower, &span) || __builtin_mul_overflow(copies, span, &copies))
        return mostUnrolledOperations;
    }
    return std::min(copies, mostUnrolledOperations);
  }
  auto copies = SvmDialect::unrollAttr.of(op);
  return copies ? std::min(copies.getInt(), mostUnrolledOperations) + 1 : 1;
}

int64_t operationsOf(Region& body) {
  constexpr int64_t enough = int64_t(1) << 40;
  int64_t count = 0;
  for (Block& block : body)
    for (Operation& op : block) {
      int64_t inner = 0;
      for (Region& region : op.getRegions())
        inner += operationsOf(region);
      count = std::min(count + 1 + std::min(inner, enough) * copiesOf(&op), enough);
    }
  return count;
}

std::unique_ptr<Pass> createUnrollLoopsPass() {
  return svm::makePass<UnrollLoopsPass>(svm::passes::UnrollLoops);
}

} // namespace strata::transform
