// Array blocks as views of the caller's arrays. Ranges are checked where they are evaluated, always; the offset of a
// block without elements is kept within the array. Indexed blocks are no views: their elements are copied to a staging
// block and back.
#include "base/machine/addressing.h"
#include "compiler/sequoia/check/fold.h"
#include "compiler/sequoia/lower/lower_body.h"
#include "compiler/sequoia/resolve/sizes.h"

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
            where + "it has {0} elements, and states that it has {1} at most", {count, most}, tunablesIn(range.max));
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
  if (module_.isWide(block->variable->type)) {
    offsets.push_back(builder_.getIndexAttr(0));
    sizes.push_back(indexConstant(ModuleLowering::wordsIn(block->variable->type)));
    strides.push_back(builder_.getIndexAttr(1));
  }
  auto rank = static_cast<unsigned>(offsets.size());
  mlir::MemRefType type = svm::viewType(rank, source.getElementType());
  if (!unitRows) {
    llvm::SmallVector<int64_t> any(rank, mlir::ShapedType::kDynamic);
    type = mlir::MemRefType::get(any, source.getElementType(),
                                 mlir::StridedLayoutAttr::get(&module_.context, mlir::ShapedType::kDynamic, any));
  }
  view.block = make<memref::SubViewOp>(type, array.block, offsets, sizes, strides);
  return view;
}

void BodyLowering::exchange(const Staged& staging, bool toStaged) {
  const Expr* block = staging.block;
  const View& indices = staging.origin;
  const Value staged = staging.elements.block;
  const Binding array = names_->bindings[block->variable];
  const Type* indexType = block->operands[0]->variable->type;
  auto mark = [&](mlir::Operation* access) {
    if (staging.operand)
      access->setAttr(svm::SvmDialect::operandAttr, builder_.getI64IntegerAttr(static_cast<int64_t>(*staging.operand)));
  };
  if (staging.nearIndices) {
    if (toStaged)
      mark(make<svm::GatherOp>(mlir::Type(), array.block, staging.nearIndices, staged, mlir::ValueRange()));
    else
      mark(make<svm::ScatterOp>(mlir::Type(), staged, array.block, staging.nearIndices, mlir::ValueRange()));
    return;
  }
  auto loop = make<scf::ForOp>(indexConstant(0), indices.counts[0], indexConstant(1));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(loop.getBody());
  Value position = loop.getInductionVar();
  Value number = toIndex(make<memref::LoadOp>(indices.block, position), indexType);
  make<svm::IndexOp>(number, array.extents[0], builder_.getStringAttr(block->variable->name),
                     builder_.getI64IntegerAttr(0));
  Values there{number}, here{position};
  if (module_.isWide(block->variable->type)) {
    auto words = make<scf::ForOp>(indexConstant(0), indexConstant(ModuleLowering::wordsIn(block->variable->type)),
                                  indexConstant(1));
    builder_.setInsertionPointToStart(words.getBody());
    there.push_back(words.getInductionVar());
    here.push_back(words.getInductionVar());
  }
  if (toStaged) {
    auto element = make<memref::LoadOp>(array.block, there);
    mark(element);
    make<memref::StoreOp>(element, staged, here);
  } else {
    Value element = make<memref::LoadOp>(staged, here);
    mark(make<memref::StoreOp>(element, array.block, there));
  }
}

BodyLowering::View BodyLowering::stagingBlock(const Expr* block, mlir::ValueRange counts, const std::string& label,
                                              std::optional<int64_t> bound) {
  const Variable& array = *block->variable;
  // The number of elements is bounded by the block's max, by the array that it, or its indices, are taken from, and by
  // what it is for.
  const Expr* ranges = isIndexed(block) ? block->operands[0] : block;
  llvm::SmallVector<int64_t> bounds;
  for (size_t d = 0; d < counts.size(); ++d) {
    std::optional<int64_t> least = d == 0 ? bound : std::nullopt;
    auto limit = [&](std::optional<int64_t> most) {
      if (most)
        least = least ? std::min(*least, *most) : *most;
    };
    limit(module_.sizes[number_].extents[ranges->variable->index][d].value);
    if (!ranges->ranges.empty() && ranges->ranges[d].max)
      if (auto most =
              llvm::dyn_cast_or_null<mlir::AffineConstantExpr>(module_.affine(instance_, ranges->ranges[d].max)))
        limit(most.getValue());
    bounds.push_back(least.value_or(-1));
  }
  Values extents(counts);
  if (module_.isWide(array.type)) {
    bounds.push_back(ModuleLowering::wordsIn(array.type));
    extents.push_back(indexConstant(bounds.back()));
  }
  Value staged = make<svm::BlockOp>(module_.viewOf(array), extents, builder_.getDenseI64ArrayAttr(bounds),
                                    builder_.getStringAttr(label), mlir::IntegerAttr());
  function_->blocks[label] = module_.memoryAt(instance_.arrayLevels[array.index]);
  return {staged, Values(counts)};
}

BodyLowering::Staged BodyLowering::gathered(const Expr* block, bool fill, const std::string& label,
                                            std::optional<size_t> operand, std::optional<int64_t> bound,
                                            unsigned level) {
  Staged staged;
  staged.block = block;
  staged.operand = operand;
  staged.origin = viewOf(isIndexed(block) ? block->operands[0] : block);
  place_ = namedPlace(block);
  staged.elements = stagingBlock(block, staged.origin.counts, label, bound);
  if (isGatheredFar(module_.machine, instance_, level, *block)) {
    const machine::MemoryId own = module_.machine.levels[level].memory;
    const machine::ProcessorId control = module_.machine.controllerOf(level);
    const machine::MemoryId near =
        machine::touches(module_.machine, control, own) ? own : machine::homeOf(module_.machine, control);
    const Expr* indices = block->operands[0];
    staged.nearIndices = stagingBlock(indices, staged.origin.counts, label + ".indices", bound).block;
    for (const std::string& each : {label, label + ".indices"})
      function_->blocks[each] = module_.machine[near].name;
    move(staged.origin.block, staged.nearIndices);
  }
  if (fill && isIndexed(block))
    exchange(staged, true);
  else if (fill)
    move(staged.origin.block, staged.elements.block);
  return staged;
}

void BodyLowering::scatter(const Staged& staged) {
  place_ = namedPlace(staged.block);
  if (isIndexed(staged.block))
    exchange(staged, false);
  else
    move(staged.elements.block, staged.origin.block);
}

void BodyLowering::moveOperand(Value from, Value to, size_t operand) {
  auto made = make<svm::MoveOp>(mlir::Type(), from, to, mlir::ValueRange());
  made->setAttr(svm::SvmDialect::operandAttr, builder_.getI64IntegerAttr(static_cast<int64_t>(operand)));
}

mlir::Location BodyLowering::namedPlace(const Expr* expr) const {
  mlir::Location place = module_.place(expr->location);
  std::string text;
  if (expr->location.valid()) {
    std::string_view source = module_.diagnostics.sources().buffer(expr->location.buffer).text();
    for (char c : source.substr(expr->location.begin, expr->location.end - expr->location.begin))
      if (c != '\n')
        text += c;
  }
  // The preprocessor may have put something else where the program says it.
  if (!llvm::StringRef(text).starts_with(expr->variable->name) || llvm::count(text, '[') != llvm::count(text, ']'))
    text = expr->variable->name;
  return mlir::NameLoc::get(mlir::StringAttr::get(&module_.context, text), place);
}

void BodyLowering::copyStatement(const Stmt& stmt) {
  const Expr *to = stmt.arguments[0].value, *from = stmt.arguments[1].value;
  at(stmt.location);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  std::string label = "copy@" + std::to_string(copies_++);
  if (isIndexed(to) || isIndexed(from)) {
    auto scope = make<svm::ScopeOp>(mlir::StringAttr(), false);
    scope->setAttr(svm::SvmDialect::disjointOperandsAttr, builder_.getUnitAttr());
    builder_.setInsertionPointToStart(&scope.getBody().emplaceBlock());
  }
  constexpr size_t destination = 0, origin = 1;
  View source = isIndexed(from) ? gathered(from, true, label + ".source", origin, {}, instance_.controlLevel).elements
                                : viewOf(from);
  Staged scattered;
  if (isIndexed(to))
    scattered = gathered(to, false, label + ".target", destination, {}, instance_.controlLevel);
  View target = isIndexed(to) ? scattered.elements : viewOf(to);
  at(stmt.location);
  for (size_t d = 0; d < source.counts.size(); ++d)
    check(compare(arith::CmpIPredicate::eq, target.counts[d], source.counts[d]), "sequoia-copy-count",
          "a copy of {0} elements of '" + std::string(from->variable->name) + "' to {1} of '" +
              std::string(to->variable->name) + "' in dimension " + std::to_string(d),
          {source.counts[d], target.counts[d]});
  // One side at most is an array of the program where the other is indexed; its place is what the move is called by.
  if (isIndexed(to)) {
    place_ = namedPlace(from);
    moveOperand(source.block, target.block, origin);
    scatter(scattered);
  } else if (isIndexed(from)) {
    place_ = namedPlace(to);
    moveOperand(source.block, target.block, destination);
  } else {
    place_ = mlir::FusedLoc::get(&module_.context, {namedPlace(to), namedPlace(from)});
    move(source.block, target.block);
  }
}

} // namespace strata::sequoia
