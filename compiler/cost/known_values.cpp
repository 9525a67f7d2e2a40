// Scalar arithmetic is the interpreter's; views are followed by their extents. See known_values.h.
#include "compiler/cost/known_values.h"

#include "compiler/ir/svm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace strata::cost {

Known Known::block(llvm::ArrayRef<int64_t> extents) {
  Known made{Kind::Block};
  made.extents.assign(extents.begin(), extents.end());
  return made;
}

const Known& KnownValues::of(Value value) const {
  static const Known nothing;
  const auto found = known_.find(value);
  return found == known_.end() ? nothing : found->second;
}

std::optional<int64_t> KnownValues::integer(Value value) const {
  const Known& known = of(value);
  if (known.kind != Known::Kind::Number)
    return std::nullopt;
  const unsigned width = interpret::scalarWidth(value.getType());
  // Truth is 1, not -1.
  return width == 1 ? static_cast<int64_t>(known.bits & 1) : interpret::signExtend(known.bits, width);
}

int64_t KnownValues::extent(Value block, unsigned dimension) const {
  const Known& known = of(block);
  if (known.kind == Known::Kind::Block && dimension < known.extents.size())
    return known.extents[dimension];
  const auto type = dyn_cast<MemRefType>(block.getType());
  if (type && dimension < static_cast<unsigned>(type.getRank()) && !type.isDynamicDim(dimension))
    return type.getDimSize(dimension);
  return -1;
}

std::optional<int64_t> KnownValues::bytes(Value block) const {
  const auto type = cast<MemRefType>(block.getType());
  auto all = static_cast<int64_t>(svm::RecordType::sizeInBytes(type.getElementType()));
  for (unsigned dimension = 0; dimension < static_cast<unsigned>(type.getRank()); ++dimension) {
    const int64_t extent = this->extent(block, dimension);
    if (extent < 0 || __builtin_mul_overflow(all, extent, &all))
      return std::nullopt;
  }
  return all;
}

std::optional<int64_t> KnownValues::fold(OpFoldResult value) const {
  if (auto attribute = dyn_cast<Attribute>(value)) {
    const auto number = dyn_cast<IntegerAttr>(attribute);
    return number ? std::optional(number.getInt()) : std::nullopt;
  }
  return integer(cast<Value>(value));
}

static std::optional<int64_t> evaluated(AffineExpr expression, ArrayRef<std::optional<int64_t>> operands,
                                        unsigned dimensions) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return constant.getValue();
  if (auto dimension = dyn_cast<AffineDimExpr>(expression))
    return operands[dimension.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return operands[dimensions + symbol.getPosition()];
  const auto binary = cast<AffineBinaryOpExpr>(expression);
  const auto left = evaluated(binary.getLHS(), operands, dimensions),
             right = evaluated(binary.getRHS(), operands, dimensions);
  if (!left || !right)
    return std::nullopt;
  int64_t result = 0;
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return __builtin_add_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
  case AffineExprKind::Mul:
    return __builtin_mul_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
  case AffineExprKind::FloorDiv:
    return *right > 0 ? std::optional(llvm::divideFloorSigned(*left, *right)) : std::nullopt;
  case AffineExprKind::CeilDiv:
    return *right > 0 ? std::optional(llvm::divideCeilSigned(*left, *right)) : std::nullopt;
  default:
    return *right > 0 ? std::optional(llvm::mod(*left, *right)) : std::nullopt;
  }
}

std::optional<SmallVector<int64_t>> KnownValues::map(AffineMap map, ValueRange operands) const {
  SmallVector<std::optional<int64_t>> given;
  for (Value operand : operands)
    given.push_back(integer(operand));
  SmallVector<int64_t> results;
  for (AffineExpr expression : map.getResults()) {
    const auto result = evaluated(expression, given, map.getNumDims());
    if (!result)
      return std::nullopt;
    results.push_back(*result);
  }
  return results;
}

std::optional<bool> KnownValues::contains(IntegerSet set, ValueRange operands) const {
  SmallVector<std::optional<int64_t>> given;
  for (Value operand : operands)
    given.push_back(integer(operand));
  bool isIn = true;
  for (unsigned number = 0; number < set.getNumConstraints(); ++number) {
    const auto value = evaluated(set.getConstraint(number), given, set.getNumDims());
    if (!value)
      return std::nullopt;
    isIn &= set.isEq(number) ? *value == 0 : *value >= 0;
  }
  return isIn;
}

/// A block that an operation makes or gives a view of: as far as its type and operands tell its extents.
Known KnownValues::view(Operation* op) const {
  const auto type = cast<MemRefType>(op->getResult(0).getType());
  SmallVector<int64_t> extents;
  for (unsigned dimension = 0; dimension < static_cast<unsigned>(type.getRank()); ++dimension)
    extents.push_back(type.isDynamicDim(dimension) ? -1 : type.getDimSize(dimension));
  const auto fromSizes = [&](ArrayRef<OpFoldResult> sizes, const llvm::SmallBitVector& isDropped) {
    size_t next = 0;
    for (auto [dimension, size] : llvm::enumerate(sizes))
      if (dimension >= isDropped.size() || !isDropped.test(static_cast<unsigned>(dimension)))
        if (next < extents.size())
          extents[next++] = fold(size).value_or(-1);
  };
  // Sizes of the dimensions that the type leaves open, in order.
  const auto fromDynamic = [&](ValueRange sizes) {
    for (int64_t& extent : extents)
      if (extent < 0 && !sizes.empty()) {
        extent = integer(sizes.front()).value_or(-1);
        sizes = sizes.drop_front();
      }
  };
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](svm::BlockOp block) { fromDynamic(block.getExtents()); })
      .Case([&](memref::AllocaOp block) { fromDynamic(block.getDynamicSizes()); })
      .Case([&](memref::AllocOp block) { fromDynamic(block.getDynamicSizes()); })
      .Case([&](svm::MemoryAtOp block) { fromDynamic(block.getExtent()); })
      .Case([&](memref::SubViewOp view) { fromSizes(view.getMixedSizes(), view.getDroppedDims()); })
      .Case([&](memref::ReinterpretCastOp view) { fromSizes(view.getMixedSizes(), {}); })
      .Case([&](memref::ExpandShapeOp view) { fromDynamic(view.getOutputShape()); })
      .Case([&](memref::CollapseShapeOp view) {
        for (auto [group, extent] : llvm::zip(view.getReassociationIndices(), extents)) {
          int64_t all = 1;
          for (const int64_t dimension : group) {
            const int64_t each = this->extent(view.getSrc(), static_cast<unsigned>(dimension));
            if (each < 0 || all < 0 || __builtin_mul_overflow(all, each, &all))
              all = -1;
          }
          extent = all;
        }
      })
      .Case<memref::CastOp, svm::InPlaceOp>([&](Operation* view) {
        for (auto [dimension, extent] : llvm::enumerate(extents))
          if (extent < 0)
            extent = this->extent(view->getOperand(0), static_cast<unsigned>(dimension));
      });
  return Known::block(extents);
}

/// Quotients and remainders that there are, as bits.
static std::optional<uint64_t> divided(Operation* op, const KnownValues& values) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
           arith::FloorDivSIOp>(op))
    return std::nullopt;
  const auto left = values.integer(op->getOperand(0)), right = values.integer(op->getOperand(1));
  if (!left || !right || *right == 0 || *right == -1)
    return std::nullopt;
  const uint64_t x = values.of(op->getOperand(0)).bits, y = values.of(op->getOperand(1)).bits;
  const uint64_t result = llvm::TypeSwitch<Operation*, uint64_t>(op)
                              .Case([&](arith::DivUIOp) { return x / y; })
                              .Case([&](arith::RemUIOp) { return x % y; })
                              .Case([&](arith::CeilDivUIOp) { return x / y + (x % y != 0); })
                              .Case([&](arith::DivSIOp) { return *left / *right; })
                              .Case([&](arith::RemSIOp) { return *left % *right; })
                              .Case([&](arith::CeilDivSIOp) {
                                return *left / *right + (*left % *right != 0 && (*left < 0) == (*right < 0));
                              })
                              .Case([&](arith::FloorDivSIOp) {
                                return *left / *right - (*left % *right != 0 && (*left < 0) != (*right < 0));
                              });
  return interpret::lowBits(result, interpret::scalarWidth(op->getResult(0).getType()));
}

static bool isVariable(Value block) {
  return block.getDefiningOp<memref::AllocaOp>() && cast<MemRefType>(block.getType()).getRank() == 0;
}

void KnownValues::forgetVariables(Operation* op) {
  op->walk([&](Operation* each) {
    if (!isa<memref::LoadOp>(each))
      for (Value operand : each->getOperands())
        if (isa<MemRefType>(operand.getType()) && isVariable(operand))
          variables_.erase(operand);
  });
}

void KnownValues::evaluate(Operation* op) {
  if (auto store = dyn_cast<memref::StoreOp>(op); store && isVariable(store.getMemref()))
    variables_[store.getMemref()] = of(store.getValue());
  else if (!isa<memref::LoadOp>(op))
    forgetVariables(op);
  if (op->getNumResults() == 0)
    return;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    const auto variable = variables_.find(load.getMemref());
    if (variable != variables_.end() && variable->second.kind == Known::Kind::Number)
      set(load, variable->second);
    else
      forget(load);
    return;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (const auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      set(constant, {Known::Kind::Number, number.getValue().getZExtValue()});
    else if (const auto real = dyn_cast<FloatAttr>(constant.getValue()))
      set(constant, {Known::Kind::Number, real.getValue().bitcastToAPInt().getZExtValue()});
    return;
  }
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    const auto dimension = integer(dim.getIndex());
    const int64_t extent = dimension ? this->extent(dim.getSource(), static_cast<unsigned>(*dimension)) : -1;
    if (extent >= 0)
      set(dim, Known::number(extent));
    else
      forget(dim);
    return;
  }
  if (auto parts = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
    for (auto [dimension, size] : llvm::enumerate(parts.getSizes()))
      if (const int64_t extent = this->extent(parts.getSource(), static_cast<unsigned>(dimension)); extent >= 0)
        set(size, Known::number(extent));
      else
        forget(size);
    return;
  }
  if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op)) {
    const auto map = cast<AffineMapAttr>(op->getAttr("map")).getValue();
    const auto results = this->map(map, op->getOperands());
    if (!results)
      forget(op->getResult(0));
    else
      set(op->getResult(0),
          Known::number(isa<affine::AffineMinOp>(op) ? *llvm::min_element(*results) : *llvm::max_element(*results)));
    return;
  }
  if (isa<MemRefType>(op->getResult(0).getType())) {
    set(op->getResult(0), view(op));
    return;
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    // Blocks are chosen among, too.
    const auto condition = integer(choice.getCondition());
    const Known chosen = condition ? of(*condition ? choice.getTrueValue() : choice.getFalseValue()) : Known();
    if (chosen.kind == Known::Kind::Nothing)
      forget(choice);
    else
      set(choice, chosen);
    return;
  }
  if (const auto quotient = divided(op, *this)) {
    set(op->getResult(0), {Known::Kind::Number, *quotient});
    return;
  }
  unsigned width = 0;
  const bool isSmall = op->getNumResults() == 1 && op->getNumOperands() >= 1 && op->getNumOperands() <= 3;
  const interpret::PureFunction function = isSmall ? interpret::scalarFunction(op, width) : nullptr;
  uint64_t operands[3] = {};
  bool isKnown = function != nullptr;
  for (auto [position, operand] : llvm::enumerate(op->getOperands())) {
    if (!isKnown)
      break;
    const Known& known = of(operand);
    isKnown = known.kind == Known::Kind::Number;
    operands[position] = known.bits;
  }
  if (isKnown)
    set(op->getResult(0), {Known::Kind::Number, function(operands[0], operands[1], operands[2], width)});
  else
    for (Value result : op->getResults())
      forget(result);
}

int64_t iterations(int64_t lower, int64_t upper, int64_t step) {
  return step > 0 && lower < upper ? llvm::divideCeilSigned(upper - lower, step) : 0;
}

bool follow(scf::WhileOp loop, KnownValues& values, llvm::function_ref<void(Region&)> each,
            llvm::function_ref<bool()> isTooLong) {
  SmallVector<Known> carried;
  const auto set = [&](ValueRange to) {
    for (auto [value, known] : llvm::zip(to, carried))
      values.set(value, known);
  };
  const auto keep = [&](ValueRange from) {
    carried.clear();
    for (Value value : from)
      carried.push_back(values.of(value));
  };
  bool isAssumed = false;
  keep(loop.getInits());
  for (int64_t left = assumedIterations;;) {
    set(loop.getBeforeArguments());
    each(loop.getBefore());
    const auto holds = values.integer(loop.getConditionOp().getCondition());
    keep(loop.getConditionOp().getArgs());
    const bool isOpen = !holds || isTooLong();
    isAssumed |= isOpen;
    if (isOpen)
      values.forgetVariables(loop);
    if (isOpen ? left-- == 0 : *holds == 0)
      break;
    set(loop.getAfterArguments());
    each(loop.getAfter());
    keep(loop.getYieldOp().getOperands());
  }
  set(loop.getResults());
  return isAssumed;
}

} // namespace strata::cost
