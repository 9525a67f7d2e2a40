// Expressions as values: an int as an index, a float as an f32, a bool as an i1. Operands are evaluated from left to
// right; what may fail or has effects is evaluated only where the language says so.
#include "compiler/hbir/lower_body.h"

namespace arith = mlir::arith;
namespace func = mlir::func;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::hbir {

using mlir::Value;

namespace {

bool isComparison(Operator op) {
  return op == Operator::Less || op == Operator::LessEqual || op == Operator::Greater || op == Operator::GreaterEqual ||
         op == Operator::Equal || op == Operator::NotEqual;
}

arith::CmpIPredicate integerPredicate(Operator op) {
  switch (op) {
  case Operator::Less:
    return arith::CmpIPredicate::slt;
  case Operator::LessEqual:
    return arith::CmpIPredicate::sle;
  case Operator::Greater:
    return arith::CmpIPredicate::sgt;
  case Operator::GreaterEqual:
    return arith::CmpIPredicate::sge;
  case Operator::Equal:
    return arith::CmpIPredicate::eq;
  default:
    return arith::CmpIPredicate::ne;
  }
}

arith::CmpFPredicate realPredicate(Operator op) {
  switch (op) {
  case Operator::Less:
    return arith::CmpFPredicate::OLT;
  case Operator::LessEqual:
    return arith::CmpFPredicate::OLE;
  case Operator::Greater:
    return arith::CmpFPredicate::OGT;
  case Operator::GreaterEqual:
    return arith::CmpFPredicate::OGE;
  case Operator::Equal:
    return arith::CmpFPredicate::OEQ;
  default:
    return arith::CmpFPredicate::UNE;
  }
}

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
  if (expression.kind == ExpressionKind::Binary && expression.type == ScalarType::Int) {
    const bool divides = expression.op == Operator::Divide || expression.op == Operator::Remainder;
    const bool shifts = expression.op == Operator::ShiftLeft || expression.op == Operator::ShiftRight;
    Range right = divides || shifts ? rangeOf(*expression.operands[1]) : Range();
    if ((divides && right.least < 1) || (shifts && !right.within(0, 63)))
      return false;
  }
  for (const ExpressionPtr& operand : expression.operands)
    if (!isPlain(*operand))
      return false;
  return true;
}

Value BodyLowering::value(const Expression& expression) {
  at(expression.where);
  switch (expression.kind) {
  case ExpressionKind::Integer:
    return number(expression.integer);
  case ExpressionKind::Real:
    return make<arith::ConstantOp>(builder_.getF32FloatAttr(static_cast<float>(expression.real)));
  case ExpressionKind::Boolean:
    return truth(expression.integer != 0);
  case ExpressionKind::Variable:
    return variable(expression);
  case ExpressionKind::Element: {
    Place place = placeOf(expression);
    at(expression.where);
    return read(place, expression.type);
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
  return number(0);
}

Value BodyLowering::variable(const Expression& expression) {
  const Symbol* symbol = expression.symbol;
  if (symbol->kind == SymbolKind::Index)
    return symbol->number < indices_.size() ? indices_[symbol->number] : number(0);
  if (symbol->kind == SymbolKind::TileId)
    return variables_ ? tileId() : number(0);
  if (const Expression* constant = module_.constantOf(symbol))
    return value(*constant);
  if (symbol->kind == SymbolKind::Local)
    if (const Binding& binding = bindingOf(symbol); binding.value)
      return binding.value;
  return read(placeOf(expression), expression.type);
}

BodyLowering::Place BodyLowering::placeOf(const Expression& expression) {
  const Symbol* symbol = expression.symbol;
  Place place;
  const SharedBlock* block = module_.blockOf(symbol);
  place.storage = block ? shared_[block->key()] : bindingOf(symbol).storage;
  if (block && block->copied) {
    // Each tile has a copy of its own: that of its memory, or of one of the memories that tiles share.
    Value copy = number(block->firstCopy);
    if (tile_ && block->perProcessor > 0)
      copy = folded<arith::AddIOp>(folded<arith::MulIOp>(tile_, number(block->perProcessor)),
                                   number(block->firstCopy % block->perProcessor));
    else if (tile_)
      copy = folded<arith::RemUIOp>(tile_, number(block->copies));
    place.indices.push_back(folded<arith::MinUIOp>(copy, number(block->copies - 1)));
  }
  for (auto [dimension, operand] : llvm::enumerate(expression.operands)) {
    Value index = value(*operand);
    int64_t extent = dimension < symbol->extents.size() ? symbol->extents[dimension] : 1;
    if (!rangeOf(*operand).within(0, extent - 1)) {
      at(operand->where);
      make<svm::IndexOp>(index, number(extent), builder_.getStringAttr(symbol->name),
                         builder_.getI64IntegerAttr(static_cast<int64_t>(dimension)));
    }
    place.indices.push_back(index);
  }
  at(expression.where);
  return place;
}

Value BodyLowering::read(const Place& place, ScalarType type) {
  return fromStored(make<memref::LoadOp>(place.storage, place.indices), type);
}

void BodyLowering::write(const Place& place, const Symbol* symbol, ScalarType type, Value value) {
  // Whoever waits for this sees all that was written before.
  if (module_.isAwaited(symbol))
    make<svm::FenceOp>();
  make<memref::StoreOp>(toStored(value, type), place.storage, place.indices);
}

Value BodyLowering::unary(const Expression& expression) {
  Value operand = value(*expression.operands[0]);
  at(expression.where);
  switch (expression.op) {
  case Operator::Not:
    return inverse(operand);
  case Operator::Complement:
    return folded<arith::XOrIOp>(operand, number(-1));
  default:
    if (expression.type == ScalarType::Float)
      return make<arith::NegFOp>(operand);
    return compute(Operator::Subtract, ScalarType::Int, expression.where, number(0), {0, 0}, operand,
                   rangeOf(*expression.operands[0]), rangeOf(expression), false);
  }
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
  if (expression.op == Operator::And || expression.op == Operator::Or)
    return logical(expression);
  const Expression &left = *expression.operands[0], &right = *expression.operands[1];
  bool contract = contracted_.contains(&expression);
  if (expression.op == Operator::Add || expression.op == Operator::Subtract)
    for (const Expression* operand : {&left, &right})
      contract |= contractWith(*operand);
  Value a = value(left), b = value(right);
  const bool isInt = expression.type == ScalarType::Int;
  return compute(expression.op, expression.type, expression.where, a, isInt ? rangeOf(left) : Range(), b,
                 isInt ? rangeOf(right) : Range(), isInt ? rangeOf(expression) : Range(), contract);
}

Value BodyLowering::comparison(const Expression& expression) {
  Value a = value(*expression.operands[0]), b = value(*expression.operands[1]);
  at(expression.where);
  if (expression.operands[0]->type == ScalarType::Float)
    return make<arith::CmpFOp>(realPredicate(expression.op), a, b);
  if (expression.operands[0]->type == ScalarType::Int)
    return compare(integerPredicate(expression.op), a, b);
  // false < true
  Value wideA = make<arith::ExtUIOp>(builder_.getI32Type(), a), wideB = make<arith::ExtUIOp>(builder_.getI32Type(), b);
  return compare(integerPredicate(expression.op), wideA, wideB);
}

Value BodyLowering::logical(const Expression& expression) {
  const bool isAnd = expression.op == Operator::And;
  Value first = value(*expression.operands[0]);
  if (isPlain(*expression.operands[1])) {
    Value second = value(*expression.operands[1]);
    at(expression.where);
    return isAnd ? folded<arith::AndIOp>(first, second) : folded<arith::OrIOp>(first, second);
  }
  at(expression.where);
  auto branch = make<scf::IfOp>(mlir::TypeRange(builder_.getI1Type()), first, true, true);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(isAnd ? branch.thenBlock() : branch.elseBlock());
  Value second = value(*expression.operands[1]);
  make<scf::YieldOp>(second);
  builder_.setInsertionPointToStart(isAnd ? branch.elseBlock() : branch.thenBlock());
  Value known = truth(!isAnd);
  make<scf::YieldOp>(known);
  return branch.getResult(0);
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
  auto branch = make<scf::IfOp>(mlir::TypeRange(type), holds, true, true);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(branch.thenBlock());
  Value a = value(yes);
  make<scf::YieldOp>(a);
  builder_.setInsertionPointToStart(branch.elseBlock());
  Value b = value(no);
  make<scf::YieldOp>(b);
  return branch.getResult(0);
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
      return compare(arith::CmpIPredicate::ne, operand, number(0));
    Value whole = rangeOf(from).fitsInt()
                      ? toStored(operand, ScalarType::Int)
                      : builder_.createOrFold<arith::IndexCastOp>(place_, builder_.getI64Type(), operand);
    return make<arith::SIToFPOp>(builder_.getF32Type(), whole);
  }
  if (expression.type == from.type)
    return operand;
  if (from.type == ScalarType::Bool) {
    if (expression.type == ScalarType::Float)
      return make<arith::UIToFPOp>(builder_.getF32Type(), operand);
    return make<arith::IndexCastUIOp>(builder_.getIndexType(), operand);
  }
  if (expression.type == ScalarType::Bool)
    return make<arith::CmpFOp>(arith::CmpFPredicate::UNE, operand, zero(ScalarType::Float));
  return floatToInt(operand);
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
  if (!callee.result) {
    make<func::CallOp>(llvm::StringRef(callee.name), none, operands);
    return number(0);
  }
  auto made =
      make<func::CallOp>(llvm::StringRef(callee.name), mlir::TypeRange(module_.elementType(*callee.result)), operands);
  return fromStored(made.getResult(0), *callee.result);
}

} // namespace strata::hbir
