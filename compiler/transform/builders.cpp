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

bool isTransformed(Operation* loop) {
  return loop->hasAttr(svm::SvmDialect::stagesAttr) || loop->hasAttr(svm::SvmDialect::unrollAttr);
}

void keepLoopAttributes(Operation* from, scf::ForOp to) {
  for (StringRef name : {StringRef(svm::SvmDialect::stagesAttr), StringRef(svm::SvmDialect::unrollAttr),
                         StringRef(svm::SvmDialect::flattenAttr), StringRef(svm::SvmDialect::labelAttr),
                         StringRef(svm::SvmDialect::reducesAttr)})
    if (Attribute value = from->getAttr(name))
      to->setAttr(name, value);
}

void moveBody(svm::ParallelOp parallel, scf::ForOp loop, ValueRange iteration) {
  Block& body = parallel.getBody().front();
  for (auto [dimension, index] : llvm::enumerate(iteration))
    parallel.iteration(static_cast<unsigned>(dimension)).replaceAllUsesWith(index);
  loop.getBody()->getOperations().splice(loop.getBody()->getTerminator()->getIterator(), body.getOperations());
}

void propagateMemory(Value block) {
  StringRef memory = svm::memoryOf(block.getType());
  for (Operation* user : block.getUsers())
    if (svm::isViewOfAnother(user) && user->getOperand(0) == block) {
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
      if (svm::isViewOfAnother(user))
        work.push_back(user->getResult(0));
    }
  return users;
}

} // namespace strata::transform
