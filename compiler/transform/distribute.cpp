// Distribution of parallel iterations over processors: contiguous shares, or block-cyclic chunks as the mapping says.
// The number of instances is the mapping's, lowered to the number of iterations; threads have no part in it.
#include "compiler/transform/distribute.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"
#include "compiler/transform/distribute_iterations.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

/// One processor carries out all iterations, in order.
void serialise(ParallelOp parallel) {
  OpBuilder builder(parallel);
  Location loc = parallel.getLoc();
  auto one = builder.create<arith::ConstantIndexOp>(loc, 1);
  SmallVector<Value> iteration;
  scf::ForOp loop;
  for (auto [lower, upper] : llvm::zip(parallel.getLower(), parallel.getUpper())) {
    loop = builder.create<scf::ForOp>(loc, lower, upper, one);
    SvmDialect::parallelAttr.set(loop);
    if (Attribute flatten = parallel->getAttr(SvmDialect::flattenAttr))
      loop->setAttr(SvmDialect::flattenAttr, flatten);
    iteration.push_back(loop.getInductionVar());
    builder.setInsertionPointToStart(loop.getBody());
  }
  keepLoopAttributes(parallel, loop);
  if (auto label = parallel.getLabelAttr())
    loop->setAttr(SvmDialect::labelAttr, label);
  moveBody(parallel, loop, iteration);
  parallel.erase();
}

/// How many instances several dimensions have together; the largest number where there are more.
Value allInstances(OpBuilder& builder, Location loc, ArrayRef<Value> counts) {
  IndexMath math(builder, loc);
  Value all = counts.front(), none = math.constant(0), most = math.constant(INT64_MAX);
  for (Value count : counts.drop_front()) {
    auto product = builder.create<arith::MulUIExtendedOp>(loc, all, count);
    Value isHigh = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, product.getHigh(), none);
    Value isNegative = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, product.getLow(), none);
    Value isTooMuch = builder.create<arith::OrIOp>(loc, isHigh, isNegative);
    all = builder.create<arith::SelectOp>(loc, isTooMuch, most, product.getLow());
  }
  return all;
}

/// Whether the bounds of a loop are constants between which there are no more instances than there may be.
bool isSmall(ParallelOp loop) {
  int64_t all = 1;
  for (auto [lower, upper] : llvm::zip(loop.getLower(), loop.getUpper())) {
    std::optional<int64_t> first = getConstantIntValue(lower), last = getConstantIntValue(upper);
    int64_t count = 0;
    if (!first || !last || __builtin_sub_overflow(std::max(*first, *last), *first, &count) ||
        __builtin_mul_overflow(all, count, &all))
      return false;
  }
  return all <= maximumInstances;
}

/// More instances than there may be end the program before any of them is started.
void checkNumber(OpBuilder& builder, ParallelOp loop, Value instances) {
  Location loc = loop.getLoc();
  Value most = IndexMath(builder, loc).constant(maximumInstances);
  auto fits = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, instances, most);
  builder.create<CheckOp>(
      loc, fits, builder.getStringAttr("too-many-instances"),
      builder.getStringAttr("a concurrent loop has more than " + std::to_string(maximumInstances) + " instances"),
      builder.getStringAttr("let each instance do the work of several, or take 'concurrent' away where none waits for "
                            "another"),
      ValueRange());
}

/// Every iteration makes progress: each is an instance. There is no loop to transform then.
void takeAsInstances(ParallelOp parallel) {
  for (StringRef name :
       {StringRef(SvmDialect::stagesAttr), StringRef(SvmDialect::unrollAttr), StringRef(SvmDialect::flattenAttr)})
    if (parallel->hasAttr(name))
      parallel.emitRemark() << "'" << name << "' has no effect: the iterations run at once";
  OpBuilder builder(parallel);
  Location loc = parallel.getLoc();
  IndexMath math(builder, loc);
  // Instances of several dimensions are numbered row by row.
  const bool isOne = parallel.dimensions() == 1;
  Value lower = isOne ? parallel.getLower().front() : math.constant(0), upper = parallel.getUpper().front();
  const bool isChecked = !isSmall(parallel);
  SmallVector<Value> counts;
  if (!isOne || isChecked) {
    for (auto [first, last] : llvm::zip(parallel.getLower(), parallel.getUpper()))
      counts.push_back(math.sub(math.max(last, first), first));
    Value all = allInstances(builder, loc, counts);
    if (isChecked)
      checkNumber(builder, parallel, all);
    if (!isOne)
      upper = all;
  }
  auto on = builder.create<InstancesOp>(loc, lower, upper, parallel.getProcessorAttr(), parallel.getLabelAttr());
  on.setConcurrent(true);
  if (parallel.getParts())
    on.setPartsAttr(builder.getI64IntegerAttr(parallel.allParts()));
  if (Attribute subset = parallel->getAttr(SvmDialect::subsetAttr))
    on->setAttr(SvmDialect::subsetAttr, subset);
  builder.setInsertionPointToStart(&on.getBody().front());
  SmallVector<Value> iteration(parallel.dimensions());
  Value number = on.instance();
  IndexMath inside(builder, loc);
  for (unsigned dimension = parallel.dimensions(); dimension-- > 0;) {
    Value index = number;
    if (dimension > 0) {
      index = builder.create<arith::RemUIOp>(loc, number, counts[dimension]);
      number = builder.create<arith::DivUIOp>(loc, number, counts[dimension]);
    }
    iteration[dimension] = isOne ? index : inside.add(index, parallel.getLower()[dimension]);
  }
  Block& body = parallel.getBody().front();
  for (auto [dimension, index] : llvm::enumerate(iteration))
    parallel.iteration(static_cast<unsigned>(dimension)).replaceAllUsesWith(index);
  on.getBody().front().getOperations().splice(on.getBody().front().end(), body.getOperations());
  parallel.erase();
}

void distribute(ParallelOp parallel) {
  OpBuilder builder(parallel);
  Location loc = parallel.getLoc();
  SmallVector<Value> busy = busyParts(builder, parallel);
  InstancesOp on = makeInstances(builder, parallel, productOf(builder, loc, busy));
  builder.setInsertionPointToStart(&on.getBody().front());
  PartLoop distributed = loopOfPart(builder, parallel, on.instance(), busy);
  moveBody(parallel, distributed.innermost, distributed.iteration);
  parallel.erase();
}

struct DistributePass : PassWrapper<DistributePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DistributePass)

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    SmallVector<ParallelOp> loops;
    getOperation().walk([&](ParallelOp loop) { loops.push_back(loop); });
    for (ParallelOp loop : loops) {
      if (loop.getConcurrent() && loop.getProcessor())
        takeAsInstances(loop);
      else if (loop.getProcessor() && loop.getParts())
        distribute(loop);
      else
        serialise(loop);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createDistributePass() {
  return svm::makePass<DistributePass>(svm::passes::Distribute);
}

} // namespace strata::transform
