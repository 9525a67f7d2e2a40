// Distribution of parallel iterations over processors: contiguous shares, or block-cyclic chunks as the mapping says.
// The number of instances is the mapping's, lowered to the number of iterations; threads have no part in it.
#include "compiler/transform/distribute.h"

#include "compiler/ir/svm.h"
#include "compiler/transform/deal_iterations.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

void serialise(SpmdOp spmd) {
  OpBuilder builder(spmd);
  auto one = builder.create<arith::ConstantIndexOp>(spmd.getLoc(), 1);
  auto loop = builder.create<scf::ForOp>(spmd.getLoc(), spmd.getLower(), spmd.getUpper(), one);
  keepLoopAttributes(spmd, loop);
  if (auto label = spmd.getLabelAttr())
    loop->setAttr(SvmDialect::labelAttr, label);
  loop->setAttr(SvmDialect::parallelAttr, builder.getUnitAttr());
  moveBody(spmd, loop, loop.getInductionVar());
  spmd.erase();
}

/// Every iteration makes progress: each is an instance. There is no loop to transform then.
void takeAsInstances(SpmdOp spmd) {
  for (StringRef name :
       {StringRef(SvmDialect::stagesAttr), StringRef(SvmDialect::unrollAttr), StringRef(SvmDialect::flattenAttr)})
    if (spmd->removeAttr(name))
      spmd.emitRemark() << "'" << name << "' has no effect: the iterations run at once";
  spmd.setInstances(true);
}

void distribute(SpmdOp spmd) {
  OpBuilder builder(spmd);
  Location loc = spmd.getLoc();
  int64_t chunk = spmd.getChunk().value_or(0);
  Value instances = busyInstances(builder, loc, spmd.getLower(), spmd.getUpper(), chunk, *spmd.getWays());
  SpmdOp on = makeInstances(builder, spmd, instances);
  builder.setInsertionPointToStart(&on.getBody().front());
  Value iteration;
  scf::ForOp loop = dealIterations(builder, loc, spmd.getLower(), spmd.getUpper(), chunk, on.iteration(), instances,
                                   isTransformed(spmd), iteration);
  keepLoopAttributes(spmd, loop);
  if (isTransformed(spmd) && spmd.getLabelAttr())
    loop->setAttr(SvmDialect::labelAttr, spmd.getLabelAttr());
  moveBody(spmd, loop, iteration);
  spmd.erase();
}

struct DistributePass : PassWrapper<DistributePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DistributePass)
  StringRef getArgument() const final { return "svm-distribute"; }
  StringRef getDescription() const final { return "distribute parallel iterations over processors"; }

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    SmallVector<SpmdOp> loops;
    getOperation().walk([&](SpmdOp op) {
      if (!op.getInstances())
        loops.push_back(op);
    });
    for (SpmdOp op : loops) {
      if (op.getConcurrent() && op.getProcessor())
        takeAsInstances(op);
      else if (op.getProcessor() && op.getWays())
        distribute(op);
      else
        serialise(op);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createDistributePass() {
  return std::make_unique<DistributePass>();
}

} // namespace strata::transform
