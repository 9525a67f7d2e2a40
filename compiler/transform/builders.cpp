// Shared builders of the passes (see the header).
#include "compiler/transform/builders.h"

using namespace mlir;

namespace strata::transform {

SmallVector<Value> extentsOf(OpBuilder& builder, Location location, Value block) {
  SmallVector<Value> extents;
  for (int64_t dimension = 0; dimension < cast<MemRefType>(block.getType()).getRank(); ++dimension)
    extents.push_back(builder.createOrFold<memref::DimOp>(location, block, dimension));
  return extents;
}

void forEachElement(OpBuilder& builder, Location location, Value block,
                    llvm::function_ref<void(OpBuilder&, ValueRange)> body) {
  OpBuilder::InsertionGuard guard(builder);
  IndexMath math(builder, location);
  Value zero = math.constant(0), one = math.constant(1);
  SmallVector<Value> indices;
  for (Value extent : extentsOf(builder, location, block)) {
    auto loop = builder.create<scf::ForOp>(location, zero, extent, one);
    indices.push_back(loop.getInductionVar());
    builder.setInsertionPointToStart(loop.getBody());
  }
  body(builder, indices);
}

Value partOf(OpBuilder& builder, Location location, Value parts, Value part) {
  auto type = cast<MemRefType>(parts.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)), sizes,
      strides(type.getRank(), builder.getIndexAttr(1));
  offsets[0] = part;
  sizes.push_back(builder.getIndexAttr(1));
  SmallVector<Value> extents = extentsOf(builder, location, parts);
  for (Value extent : llvm::drop_begin(extents))
    sizes.push_back(extent);
  auto result = svm::viewType(type.getRank() - 1, type.getElementType(), type.getMemorySpace());
  return builder.create<memref::SubViewOp>(location, result, parts, offsets, sizes, strides);
}

Value sameBits(OpBuilder& builder, Location location, Value a, Value b) {
  if (auto record = dyn_cast<svm::RecordType>(a.getType())) {
    Value all = builder.create<arith::ConstantIntOp>(location, 1, builder.getI1Type());
    for (auto [position, type] : llvm::enumerate(record.getFieldTypes())) {
      Value first = builder.create<svm::FieldOp>(location, type, a, position);
      Value second = builder.create<svm::FieldOp>(location, type, b, position);
      all = builder.create<arith::AndIOp>(location, all, sameBits(builder, location, first, second));
    }
    return all;
  }
  if (auto number = dyn_cast<FloatType>(a.getType())) {
    Type bits = builder.getIntegerType(number.getWidth());
    a = builder.create<arith::BitcastOp>(location, bits, a);
    b = builder.create<arith::BitcastOp>(location, bits, b);
  }
  return builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::eq, a, b);
}

Among amongOf(svm::SpmdOp spmd) {
  auto numbers = spmd->getAttrOfType<DenseI64ArrayAttr>(amongAttr);
  if (!numbers || numbers.size() != 2 || numbers[0] < 0 || numbers[1] < 1)
    return {};
  return {numbers[0], numbers[1]};
}

Value busyProcessors(OpBuilder& builder, Location location, Value lower, Value upper, int64_t chunk, int64_t ways) {
  IndexMath math(builder, location);
  // The bounds may lie anywhere: a range without iterations is told before the subtraction, which would overflow.
  Value count = math.sub(math.max(upper, lower), lower);
  return math.min(math.constant(ways), chunk ? math.ceilDiv(count, chunk) : count);
}

bool isTransformed(Operation* loop) {
  return loop->hasAttr(svm::SvmDialect::stagesAttr) || loop->hasAttr(svm::SvmDialect::unrollAttr);
}

void keepLoopAttributes(Operation* from, scf::ForOp to) {
  for (StringRef name :
       {StringRef(svm::SvmDialect::stagesAttr), StringRef(svm::SvmDialect::unrollAttr),
        StringRef(svm::SvmDialect::flattenAttr), StringRef(svm::SvmDialect::labelAttr), StringRef(reducesAttr)})
    if (Attribute value = from->getAttr(name))
      to->setAttr(name, value);
}

/// Iterations of a part when chunks are dealt in turn: those of full rounds, and what the last round has for it.
static Value iterationsOf(IndexMath& math, OpBuilder& builder, Location location, Value count, int64_t chunk,
                          Value part, Value parts) {
  Value size = math.constant(chunk), round = math.mul(parts, size);
  Value rounds = builder.createOrFold<arith::DivUIOp>(location, count, round);
  Value rest = math.sub(math.sub(count, math.mul(rounds, round)), math.mul(part, size));
  return math.add(math.mul(rounds, size), math.min(math.max(rest, math.constant(0)), size));
}

scf::ForOp dealIterations(OpBuilder& builder, Location location, Value lower, Value upper, int64_t chunk, Value part,
                          Value parts, bool asOne, Value& iteration) {
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
    // The first (count mod parts) shares are one longer, so that no product of count and part is needed.
    Value count = math.sub(upper, lower);
    Value share = builder.create<arith::DivUIOp>(location, count, parts);
    Value longer = builder.create<arith::RemUIOp>(location, count, parts);
    auto begin = [&](Value number) {
      return math.add(lower, math.add(math.mul(number, share), math.min(number, longer)));
    };
    Value first = begin(part), last = begin(math.add(part, one));
    return parallel(builder.create<scf::ForOp>(location, first, last, one));
  }
  Value size = math.constant(chunk);
  Value count = math.sub(upper, lower), first = math.mul(part, size), step = math.mul(parts, size);
  if (asOne && chunk == 1) {
    auto loop = parallel(builder.create<scf::ForOp>(location, first, count, step));
    return fromLower(loop, loop.getInductionVar());
  }
  if (asOne) {
    Value own = iterationsOf(math, builder, location, count, chunk, part, parts);
    auto loop = parallel(builder.create<scf::ForOp>(location, math.constant(0), own, one));
    OpBuilder inside(builder.getContext());
    inside.setInsertionPointToStart(loop.getBody());
    IndexMath within(inside, location);
    Value round = inside.create<arith::DivUIOp>(location, loop.getInductionVar(), size);
    Value place = inside.create<arith::RemUIOp>(location, loop.getInductionVar(), size);
    return fromLower(loop, within.add(within.add(first, within.mul(round, step)), place));
  }
  auto outer = parallel(builder.create<scf::ForOp>(location, first, count, step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(outer.getBody());
  Value end = math.min(math.add(outer.getInductionVar(), size), count);
  auto inner = parallel(builder.create<scf::ForOp>(location, outer.getInductionVar(), end, one));
  // A chunk begins below the upper bound: what does not change in it may leave the loop over chunks too.
  inner->setAttr(nonEmptyAttr, builder.getUnitAttr());
  return fromLower(inner, inner.getInductionVar());
}

void moveBody(svm::SpmdOp spmd, scf::ForOp loop, Value iteration) {
  Block& body = spmd.getBody().front();
  spmd.iteration().replaceAllUsesWith(iteration);
  loop.getBody()->getOperations().splice(loop.getBody()->getTerminator()->getIterator(), body.getOperations());
}

void propagateMemory(Value block) {
  StringRef memory = svm::memoryOf(block.getType());
  for (Operation* user : block.getUsers())
    if (isa<memref::SubViewOp, memref::CastOp, memref::ReinterpretCastOp>(user) && user->getOperand(0) == block) {
      Value view = user->getResult(0);
      view.setType(svm::withMemory(cast<MemRefType>(view.getType()), memory));
      propagateMemory(view);
    } else if (auto layout = dyn_cast<memref::ExtractStridedMetadataOp>(user)) {
      Value buffer = layout.getBaseBuffer();
      buffer.setType(svm::withMemory(cast<MemRefType>(buffer.getType()), memory));
    }
}

SmallVector<Operation*> usersThroughViews(Value block) {
  SmallVector<Operation*> users;
  SmallVector<Value> work{block};
  while (!work.empty())
    for (Operation* user : work.pop_back_val().getUsers()) {
      users.push_back(user);
      if (isa<memref::SubViewOp, memref::CastOp>(user))
        work.push_back(user->getResult(0));
    }
  return users;
}

} // namespace strata::transform
