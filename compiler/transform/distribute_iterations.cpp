// Emits the arithmetic of machine::Shares; each function names the one that it mirrors. Divisions are unsigned and
// counts not negative. Products are taken only where they are numbers of things or less.
#include "compiler/transform/distribute_iterations.h"

using namespace mlir;

namespace strata::transform {

std::optional<machine::InstanceRange> subsetOf(Operation* loop) {
  DenseI64ArrayAttr numbers = svm::SvmDialect::subsetAttr.of(loop);
  if (!numbers || numbers.size() != 2 || numbers[1] < 1)
    return std::nullopt;
  // Numbers that nobody can have stay numbers that no class has, so that they are refused.
  return machine::InstanceRange::of(std::min(numbers[0], INT64_MAX - numbers[1]), numbers[1]);
}

Value busyInstances(OpBuilder& builder, Location location, Value lower, Value upper, int64_t chunk, int64_t parts) {
  IndexMath math(builder, location);
  // The bounds may lie anywhere: a range without iterations is told before the subtraction, which would overflow.
  Value count = math.sub(math.max(upper, lower), lower);
  return math.min(math.constant(parts), chunk ? math.ceilDiv(count, chunk) : count);
}

svm::InstancesOp makeInstances(OpBuilder& builder, svm::ParallelOp loop, Value instances) {
  Location location = loop.getLoc();
  Value zero = IndexMath(builder, location).constant(0);
  auto on = builder.create<svm::InstancesOp>(location, zero, instances, loop.getProcessorAttr(), loop.getLabelAttr());
  on.setPartsAttr(builder.getI64IntegerAttr(loop.allParts()));
  if (Attribute subset = loop->getAttr(svm::SvmDialect::subsetAttr))
    on->setAttr(svm::SvmDialect::subsetAttr, subset);
  return on;
}

namespace {

/// The parts of a number of iterations, at one insertion point.
struct EmittedShares {
  OpBuilder& builder;
  Location location;
  Value count, part, parts;

  /// Shares::begin of this part and of the next, contiguous. The first (count mod parts) shares are one longer, so that
  /// no product of count and part is needed.
  std::pair<Value, Value> contiguous(Value lower, Value one) {
    IndexMath math(builder, location);
    Value share = builder.create<arith::DivUIOp>(location, count, parts);
    Value longer = builder.create<arith::RemUIOp>(location, count, parts);
    auto begin = [&](Value number) {
      return math.add(lower, math.add(math.mul(number, share), math.min(number, longer)));
    };
    Value first = begin(part);
    return {first, begin(math.add(part, one))};
  }

  /// Shares::size, block-cyclic: the iterations of full rounds, and what the last round has for the part.
  Value size(int64_t chunk) {
    IndexMath math(builder, location);
    Value size = math.constant(chunk), round = math.mul(parts, size);
    Value rounds = builder.createOrFold<arith::DivUIOp>(location, count, round);
    Value rest = math.sub(math.sub(count, math.mul(rounds, round)), math.mul(part, size));
    return math.add(math.mul(rounds, size), math.min(math.max(rest, math.constant(0)), size));
  }

  /// Shares::at, block-cyclic: the iteration in place `place`, where `first` is the part's first and `round` is how far
  /// its chunks are apart.
  Value at(Value place, Value size, Value first, Value round) {
    IndexMath math(builder, location);
    Value rounds = builder.create<arith::DivUIOp>(location, place, size);
    Value within = builder.create<arith::RemUIOp>(location, place, size);
    return math.add(math.add(first, math.mul(rounds, round)), within);
  }
};

} // namespace

scf::ForOp distributeIterations(OpBuilder& builder, Location location, Value lower, Value upper, int64_t chunk,
                                Value part, Value parts, bool asOne, Value& iteration) {
  IndexMath math(builder, location);
  Value one = math.constant(1);
  auto parallel = [&](scf::ForOp loop) {
    loop->setAttr(svm::SvmDialect::parallelAttr, builder.getUnitAttr());
    iteration = loop.getInductionVar();
    return loop;
  };
  // Chunks are counted from the lower bound on, since steps of many may overflow near the end of 64 bits.
  auto fromLower = [&](scf::ForOp loop, Value offset) {
    OpBuilder inside(builder.getContext());
    inside.setInsertionPointToStart(loop.getBody());
    if (offset != loop.getInductionVar())
      inside.setInsertionPointAfterValue(offset);
    iteration = IndexMath(inside, location).add(offset, lower);
    return loop;
  };
  if (!chunk) {
    EmittedShares shares{builder, location, math.sub(upper, lower), part, parts};
    auto [first, last] = shares.contiguous(lower, one);
    return parallel(builder.create<scf::ForOp>(location, first, last, one));
  }
  Value size = math.constant(chunk);
  Value count = math.sub(upper, lower), first = math.mul(part, size), step = math.mul(parts, size);
  if (asOne && chunk == 1) {
    auto loop = parallel(builder.create<scf::ForOp>(location, first, count, step));
    return fromLower(loop, loop.getInductionVar());
  }
  if (asOne) {
    Value own = EmittedShares{builder, location, count, part, parts}.size(chunk);
    auto loop = parallel(builder.create<scf::ForOp>(location, math.constant(0), own, one));
    OpBuilder inside(builder.getContext());
    inside.setInsertionPointToStart(loop.getBody());
    EmittedShares shares{inside, location, count, part, parts};
    return fromLower(loop, shares.at(loop.getInductionVar(), size, first, step));
  }
  auto outer = parallel(builder.create<scf::ForOp>(location, first, count, step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(outer.getBody());
  Value end = math.min(math.add(outer.getInductionVar(), size), count);
  auto inner = parallel(builder.create<scf::ForOp>(location, outer.getInductionVar(), end, one));
  // A chunk begins below the upper bound: what does not change in it may leave the loop over chunks too.
  inner->setAttr(svm::SvmDialect::nonEmptyAttr, builder.getUnitAttr());
  return fromLower(inner, inner.getInductionVar());
}

SmallVector<Value> busyParts(OpBuilder& builder, svm::ParallelOp loop) {
  SmallVector<Value> busy;
  for (unsigned dimension = 0; dimension < loop.dimensions(); ++dimension)
    busy.push_back(busyInstances(builder, loop.getLoc(), loop.getLower()[dimension], loop.getUpper()[dimension],
                                 loop.chunkOf(dimension), loop.partsOf(dimension)));
  return busy;
}

Value productOf(OpBuilder& builder, Location location, ValueRange counts) {
  IndexMath math(builder, location);
  Value product = counts.front();
  for (Value count : counts.drop_front())
    product = math.mul(product, count);
  return product;
}

PartLoop loopOfPart(OpBuilder& builder, svm::ParallelOp loop, Value number, ValueRange busy) {
  Location location = loop.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  PartLoop distributed;
  // The coordinates of the part, the last dimension's first.
  SmallVector<Value> coordinates(loop.dimensions());
  for (unsigned dimension = loop.dimensions(); dimension-- > 0;) {
    const bool isFirst = dimension == 0;
    coordinates[dimension] = isFirst ? number : builder.create<arith::RemUIOp>(location, number, busy[dimension]);
    number = isFirst ? number : builder.create<arith::DivUIOp>(location, number, busy[dimension]);
  }
  for (unsigned dimension = 0; dimension < loop.dimensions(); ++dimension) {
    Value index;
    distributed.innermost = distributeIterations(builder, location, loop.getLower()[dimension],
                                                 loop.getUpper()[dimension], loop.chunkOf(dimension),
                                                 coordinates[dimension], busy[dimension], isTransformed(loop), index);
    distributed.iteration.push_back(index);
    if (Attribute flatten = loop->getAttr(svm::SvmDialect::flattenAttr))
      distributed.innermost->setAttr(svm::SvmDialect::flattenAttr, flatten);
    builder.setInsertionPoint(distributed.innermost.getBody()->getTerminator());
  }
  keepLoopAttributes(loop, distributed.innermost);
  if (isTransformed(loop) && loop.getLabelAttr())
    distributed.innermost->setAttr(svm::SvmDialect::labelAttr, loop.getLabelAttr());
  return distributed;
}

} // namespace strata::transform
