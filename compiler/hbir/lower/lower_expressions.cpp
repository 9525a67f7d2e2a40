// Expressions as values: an int as an index, a float as an f32, a bool as an i1. Operands are evaluated from left to
// right; what may fail or has effects is evaluated only where the language says so.
#include "compiler/hbir/lower/lower_body.h"

namespace arith = mlir::arith;
namespace func = mlir::func;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::hbir {

using mlir::Value;

namespace {

/// The product that an operand of a sum is, perhaps negated. Null when it is none.
const Expression* productOf(const Expression& operand) {
  const Expression* expression = &operand;
  while (expression->kind == ExpressionKind::Unary && expression->op == Operator::Negate)
    expression = expression->operands[0].get();
  return expression->kind == ExpressionKind::Binary && expression->op == Operator::Multiply &&
                 expression->type == ScalarType::Float
             ? expression
             : nullptr;
}

} // namespace

bool BodyLowering::isPlain(const Expression& expression) {
  if (expression.kind == ExpressionKind::Element || expression.kind == ExpressionKind::Call)
    return false;
  if (expression.kind == ExpressionKind::Binary && (isDivision(expression.op) || isShift(expression.op)) &&
      expression.type == ScalarType::Int &&
      !isSafe(expression.op, Scalar::Long, rangeOf(*expression.operands[0]), rangeOf(*expression.operands[1])))
    return false;
  for (const ExpressionPtr& operand : expression.operands)
    if (!isPlain(*operand))
      return false;
  return true;
}

Value BodyLowering::value(const Expression& expression) {
  at(expression.where);
  switch (expression.kind) {
  case ExpressionKind::Integer:
    return indexConstant(expression.integer);
  case ExpressionKind::Real:
    return make<arith::ConstantOp>(builder_.getF32FloatAttr(static_cast<float>(expression.real)));
  case ExpressionKind::Boolean:
    return truth(expression.integer != 0);
  case ExpressionKind::Variable:
    return variable(expression);
  case ExpressionKind::Element: {
    Place place = placeOf(expression);
    at(expression.where);
    return read(place, expression);
  }
  case ExpressionKind::Unary:
    return unary(expression);
  case ExpressionKind::Binary:
    return binary(expression);
  case ExpressionKind::Conditional:
    return conditional(expression);
  case ExpressionKind::Cast:
    return cast(expression);
  case ExpressionKind::Call:
    return call(expression);
  case ExpressionKind::BuiltinCall:
    return builtin(expression);
  }
  return indexConstant(0);
}

Value BodyLowering::variable(const Expression& expression) {
  const Symbol* symbol = expression.symbol;
  if (symbol->kind == SymbolKind::Index)
    return symbol->number < indices_.size() ? indices_[symbol->number] : indexConstant(0);
  if (symbol->kind == SymbolKind::TileId)
    return variables_ ? tileId() : indexConstant(0);
  if (const Expression* constant = module_.constantOf(symbol))
    return value(*constant);
  if (symbol->kind == SymbolKind::Local)
    if (const Binding& binding = bindingOf(symbol); binding.value)
      return binding.value;
  return read(placeOf(expression), expression);
}

BodyLowering::Place BodyLowering::placeOf(const Expression& expression) {
  const Symbol* symbol = expression.symbol;
  Place place;
  const SharedBlock* block = module_.blockOf(symbol);
  place.storage = block ? shared_[block->key()] : bindingOf(symbol).storage;
  if (block && block->copied) {
    // Each tile has a copy of its own: that of its memory, or of one of the memories that tiles share.
    Value copy = indexConstant(block->firstCopy);
    if (tile_ && block->perProcessor > 0)
      copy = folded<arith::AddIOp>(folded<arith::MulIOp>(tile_, indexConstant(block->perProcessor)),
                                   indexConstant(block->firstCopy % block->perProcessor));
    else if (tile_)
      copy = folded<arith::RemUIOp>(tile_, indexConstant(block->copies));
    place.indices.push_back(folded<arith::MinUIOp>(copy, indexConstant(block->copies - 1)));
  }
  for (auto [dimension, operand] : llvm::enumerate(expression.operands)) {
    Value index = value(*operand);
    int64_t extent = dimension < symbol->extents.size() ? symbol->extents[dimension] : 1;
    if (!rangeOf(*operand).within(0, extent - 1)) {
      at(operand->where);
      make<svm::IndexOp>(index, indexConstant(extent), builder_.getStringAttr(symbol->name),
                         builder_.getI64IntegerAttr(static_cast<int64_t>(dimension)));
    }
    place.indices.push_back(index);
  }
  at(expression.where);
  return place;
}

Value BodyLowering::read(const Place& place, const Expression& expression) {
  Value loaded = make<memref::LoadOp>(place.storage, place.indices);
  return fromStored(awaited(expression.symbol, loaded), expression.type);
}

void BodyLowering::write(const Place& place, const Symbol* symbol, ScalarType type, Value value) {
  // Whoever waits for this sees all that was written before.
  if (module_.isAwaited(symbol))
    make<svm::FenceOp>();
  Value stored = toStored(value, type);
  if (isWatched(symbol))
    watch(place, stored);
  make<memref::StoreOp>(stored, place.storage, place.indices);
}

Value BodyLowering::unary(const Expression& expression) {
  Value operand = value(*expression.operands[0]);
  at(expression.where);
  switch (expression.op) {
  case Operator::Not:
    return inverse(operand);
  case Operator::Complement:
    return complement(operand);
  default:
    return negated(computed(expression.type), operand);
  }
}

BodyLowering::Operand BodyLowering::operandOf(const Expression& expression) {
  return {value(expression), expression.type == ScalarType::Int ? rangeOf(expression) : Range()};
}

Value BodyLowering::operation(Operator op, ScalarType type, const Operand& left, const Operand& right, bool contract) {
  if (isShift(op))
    return shift(op == Operator::ShiftLeft, Scalar::Long, left.value, Scalar::Long, right);
  return arithmetic(op, computed(type), left, right, contract);
}

Value BodyLowering::builtin(const Expression& expression) {
  Values operands;
  for (const ExpressionPtr& operand : expression.operands)
    operands.push_back(value(*operand));
  at(expression.where);
  return function(expression.builtin, computed(expression.type), operands);
}

bool BodyLowering::contractWith(const Expression& operand) {
  const Expression* product = productOf(operand);
  if (product)
    contracted_.insert(product);
  return product;
}

Value BodyLowering::binary(const Expression& expression) {
  if (isComparison(expression.op))
    return comparison(expression);
  if (cfamily::isLogical(expression.op))
    return logical(expression);
  const Expression &left = *expression.operands[0], &right = *expression.operands[1];
  bool contract = contracted_.contains(&expression);
  if (expression.op == Operator::Add || expression.op == Operator::Subtract)
    for (const Expression* operand : {&left, &right})
      contract |= contractWith(*operand);
  Operand a = operandOf(left), b = operandOf(right);
  at(expression.where);
  return operation(expression.op, expression.type, a, b, contract);
}

Value BodyLowering::comparison(const Expression& expression) {
  Value a = value(*expression.operands[0]), b = value(*expression.operands[1]);
  at(expression.where);
  const ScalarType type = expression.operands[0]->type;
  // false < true
  return comparison(expression.op, type == ScalarType::Bool ? Scalar::Bool : computed(type), a, b);
}

Value BodyLowering::logical(const Expression& expression) {
  const bool isAnd = expression.op == Operator::LogicalAnd;
  Value first = value(*expression.operands[0]);
  if (isPlain(*expression.operands[1])) {
    Value second = value(*expression.operands[1]);
    at(expression.where);
    return isAnd ? both(first, second) : either(first, second);
  }
  at(expression.where);
  return shortCircuit(isAnd, first, [&] { return value(*expression.operands[1]); });
}

Value BodyLowering::conditional(const Expression& expression) {
  const Expression &yes = *expression.operands[1], &no = *expression.operands[2];
  Value holds = value(*expression.operands[0]);
  if (isPlain(yes) && isPlain(no)) {
    Value a = value(yes), b = value(no);
    at(expression.where);
    return make<arith::SelectOp>(holds, a, b);
  }
  at(expression.where);
  mlir::Type type = expression.type == ScalarType::Int ? builder_.getIndexType() : module_.elementType(expression.type);
  return eitherOf(holds, type, [&] { return value(yes); }, [&] { return value(no); });
}

Value BodyLowering::cast(const Expression& expression) {
  const Expression& from = *expression.operands[0];
  Value operand = value(from);
  at(expression.where);
  if (from.type == ScalarType::Int) {
    if (expression.type == ScalarType::Int)
      return narrowed(operand, rangeOf(from));
    // Only storing an int takes its 32 bits: what is computed is converted as a whole.
    if (expression.type == ScalarType::Bool)
      return isNonZero(Scalar::Long, operand);
    if (rangeOf(from).fits(Scalar::Int))
      return converted(toStored(operand, ScalarType::Int), Scalar::Int, Scalar::Float);
    Value whole = builder_.createOrFold<arith::IndexCastOp>(place_, builder_.getI64Type(), operand);
    return converted(whole, Scalar::Long, Scalar::Float);
  }
  if (expression.type == from.type)
    return operand;
  if (from.type == ScalarType::Bool) {
    if (expression.type == ScalarType::Float)
      return converted(operand, Scalar::Bool, Scalar::Float);
    return make<arith::IndexCastUIOp>(builder_.getIndexType(), operand);
  }
  if (expression.type == ScalarType::Bool)
    return isNonZero(Scalar::Float, operand);
  return fromStored(nearestInteger(operand, Scalar::Int), ScalarType::Int);
}

Value BodyLowering::call(const Expression& expression) {
  const Extern& callee = *expression.callee;
  Values operands;
  for (const ExpressionPtr& operand : expression.operands) {
    Value given = value(*operand);
    at(expression.where);
    operands.push_back(toStored(given, operand->type));
  }
  at(expression.where);
  mlir::TypeRange none;
  if (!waiting_.empty())
    noteChange(); // nobody knows what it does
  if (!callee.result) {
    make<func::CallOp>(llvm::StringRef(callee.name), none, operands);
    return indexConstant(0);
  }
  auto made =
      make<func::CallOp>(llvm::StringRef(callee.name), mlir::TypeRange(module_.elementType(*callee.result)), operands);
  return fromStored(made.getResult(0), *callee.result);
}

} // namespace strata::hbir
