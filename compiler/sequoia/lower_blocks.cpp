// Array blocks as views of the caller's arrays. Ranges are checked where they are evaluated, always; the offset of a
// block without elements is kept within the array. Indexed blocks are no views: their elements are copied to a staging
// block and back.
#include "compiler/sequoia/fold.h"
#include "compiler/sequoia/lower_body.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::sequoia {

using mlir::Value;

BodyLowering::View BodyLowering::viewOf(const Expr* block) {
  if (block->ranges.empty()) {
    const Binding& array = names_->bindings[block->variable];
    return {array.block, array.extents};
  }
  return rangeView(block);
}

BodyLowering::View BodyLowering::rangeView(const Expr* block) {
  const Binding array = names_->bindings[block->variable];
  const std::string name(block->variable->name);
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, strides;
  bool unitRows = true;
  View view;
  for (size_t d = 0; d < block->ranges.size(); ++d) {
    const BlockRange& range = block->ranges[d];
    const Value extent = array.extents[d];
    const std::string where = "block of '" + name + "', dimension " + std::to_string(d) + ": ";
    Value start = index(range.start);
    Value stride = range.stride ? index(range.stride) : Value();
    Value most = range.max ? index(range.max) : Value();
    Value end = range.end ? index(range.end) : Value();
    at(range.location);
    const bool isStated = bool(end); // else the end lies within the array by itself
    if (!end && most) {
      // Where the max may be huge, the sum must not overflow.
      std::optional<int64_t> bound = mlir::getConstantIntValue(most);
      Value length = bound && *bound <= INT32_MAX ? most : minimum(most, extent);
      end = minimum(add(start, length), extent);
    } else if (!end) {
      end = extent;
    }
    check(compare(arith::CmpIPredicate::sge, start, indexConstant(0)), "sequoia-block-range",
          where + "the start {0} is negative", start);
    if (isStated)
      check(compare(arith::CmpIPredicate::sle, end, extent), "sequoia-block-range",
            where + "the end {0} lies beyond the array's {1} elements", {end, extent});
    auto constantStride = constantOf(range.stride);
    bool isUnit = !stride || (constantStride && *constantStride == 1);
    Value count = maximum(subtract(end, start), indexConstant(0));
    if (range.max && !range.end && isUnit && isNonNegative(range.max) && range.start->kind == ExprKind::Integer &&
        *constantOf(range.start) == 0)
      count = end;
    if (!isUnit) {
      check(compare(arith::CmpIPredicate::sge, stride, indexConstant(1)), "sequoia-block-range",
            where + "the stride {0} is less than 1", stride);
      Value any = compare(arith::CmpIPredicate::sgt, count, indexConstant(0));
      Value steps = add(folded<arith::DivSIOp>(subtract(count, indexConstant(1)), stride), indexConstant(1));
      count = builder_.createOrFold<arith::SelectOp>(place_, any, steps, indexConstant(0));
    }
    if (most && range.end)
      check(compare(arith::CmpIPredicate::sle, count, most), "sequoia-block-count",
            where + "it has {0} elements, and states that it has {1} at most", {count, most});
    // A block without elements may start behind the array's end.
    Value offset = range.start->kind == ExprKind::Integer && range.start->integer == 0 ? start : minimum(start, extent);
    offsets.push_back(offset);
    sizes.push_back(count);
    strides.push_back(isUnit ? mlir::OpFoldResult(builder_.getIndexAttr(1)) : mlir::OpFoldResult(stride));
    view.counts.push_back(count);
    unitRows = isUnit;
  }
  at(block->location);
  auto source = llvm::cast<mlir::MemRefType>(array.block.getType());
  auto rank = static_cast<unsigned>(block->ranges.size());
  mlir::MemRefType type = svm::viewType(rank, source.getElementType());
  if (!unitRows) {
    llvm::SmallVector<int64_t> any(rank, mlir::ShapedType::kDynamic);
    type = mlir::MemRefType::get(any, source.getElementType(),
                                 mlir::StridedLayoutAttr::get(&module_.context, mlir::ShapedType::kDynamic, any));
  }
  view.block = make<memref::SubViewOp>(type, array.block, offsets, sizes, strides);
  return view;
}

void BodyLowering::exchange(const Expr* block, const View& indices, Value staged, bool toStaged) {
  const Binding array = names_->bindings[block->variable];
  const Type* indexType = block->operands[0]->variable->type;
  auto loop = make<scf::ForOp>(indexConstant(0), indices.counts[0], indexConstant(1));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(loop.getBody());
  Value position = loop.getInductionVar();
  Value number = toIndex(make<memref::LoadOp>(indices.block, position), indexType);
  make<svm::IndexOp>(number, array.extents[0], builder_.getStringAttr(block->variable->name),
                     builder_.getI64IntegerAttr(0));
  if (toStaged) {
    Value element = make<memref::LoadOp>(array.block, number);
    make<memref::StoreOp>(element, staged, position);
  } else {
    Value element = make<memref::LoadOp>(staged, position);
    make<memref::StoreOp>(element, array.block, number);
  }
}

BodyLowering::View BodyLowering::gathered(const Expr* block, bool fill, const std::string& label) {
  View indices = viewOf(block->operands[0]);
  at(block->location);
  const Variable& array = *block->variable;
  auto type = module_.viewOf(array);
  auto staged = make<svm::BlockOp>(type, indices.counts, mlir::DenseI64ArrayAttr(), builder_.getStringAttr(label),
                                   mlir::IntegerAttr());
  function_->blocks[label] = module_.memoryAt(instance_.arrayLevels[array.index]);
  if (fill)
    exchange(block, indices, staged, true);
  return {staged, indices.counts};
}

void BodyLowering::scatter(const Expr* block, const View& staged) {
  View indices = viewOf(block->operands[0]);
  at(block->location);
  exchange(block, indices, staged.block, false);
}

void BodyLowering::copyStatement(const Stmt& stmt) {
  const Expr *to = stmt.arguments[0].value, *from = stmt.arguments[1].value;
  at(stmt.location);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  std::string label = "copy@" + std::to_string(copies_++);
  if (isIndexed(to) || isIndexed(from)) {
    auto scope = make<svm::ScopeOp>(mlir::StringAttr(), false);
    builder_.setInsertionPointToStart(&scope.getBody().emplaceBlock());
  }
  View source = isIndexed(from) ? gathered(from, true, label + ".source") : viewOf(from);
  View target = isIndexed(to) ? gathered(to, false, label + ".target") : viewOf(to);
  at(stmt.location);
  for (size_t d = 0; d < source.counts.size(); ++d)
    check(compare(arith::CmpIPredicate::eq, target.counts[d], source.counts[d]), "sequoia-copy-count",
          "a copy of {0} elements of '" + std::string(from->variable->name) + "' to {1} of '" +
              std::string(to->variable->name) + "' in dimension " + std::to_string(d),
          {source.counts[d], target.counts[d]});
  move(source.block, target.block);
  if (isIndexed(to))
    scatter(to, target);
}

} // namespace strata::sequoia
