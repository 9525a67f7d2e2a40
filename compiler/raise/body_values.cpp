// Values, and what polynomials and LLVM's expressions of them come to.
#include "compiler/raise/body.h"

namespace strata::raise {

namespace arith = mlir::arith;

using mlir::Value;

mlir::Type Body::typeOf(const llvm::Type* type) {
  if (type->isFloatTy())
    return builder_.getF32Type();
  if (type->isDoubleTy())
    return builder_.getF64Type();
  if (type->isIntegerTy() && type->getIntegerBitWidth() <= 64)
    return builder_.getIntegerType(type->getIntegerBitWidth());
  return {};
}

/// Of a pointer into an array that is known, an index: its bytes from the array's beginning.
mlir::Type Body::typeOf(const llvm::Value* value) {
  if (!value->getType()->isPointerTy())
    return typeOf(value->getType());
  const llvm::Value* base = indices_.baseOf(value);
  const bool isKnown = llvm::isa<llvm::Argument, llvm::AllocaInst, llvm::GlobalVariable>(base);
  return isKnown ? mlir::Type(builder_.getIndexType()) : mlir::Type();
}

/// Whether a pointer follows from others wherever it is used.
bool Body::isFollowed(const llvm::PHINode& phi) {
  return phi.getType()->isPointerTy() && !indices_.isChosen(&phi);
}

Value Body::index(int64_t value) {
  return make<arith::ConstantIndexOp>(value);
}

Value Body::zero(mlir::Type type) {
  return make<arith::ConstantOp>(builder_.getZeroAttr(type));
}

Value Body::valueOf(const llvm::Value* value) {
  if (const auto found = values_.find(value); found != values_.end())
    return found->second;
  if (llvm::isa<llvm::UndefValue>(value) && value->getType()->isPointerTy())
    return index(0);
  if (value->getType()->isPointerTy() && typeOf(value) && !indices_.isChosen(value))
    return valueOf(indices_.bytesOf(value));
  const mlir::Type type = typeOf(value->getType());
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value); constant && type)
    return make<arith::ConstantOp>(builder_.getIntegerAttr(type, constant->getValue()));
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantFP>(value); constant && type)
    return make<arith::ConstantOp>(builder_.getFloatAttr(type, constant->getValueAPF()));
  if (llvm::isa<llvm::UndefValue>(value) && type)
    return zero(type);
  // What stands for the variables of counted loops, and what the caller knows, have no value until one is asked for.
  if (value->getType()->isIntegerTy() && type && llvm::isa<llvm::PHINode, llvm::Argument>(value)) {
    std::optional<Polynomial> known;
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(value))
      known = indices_.recurrence(phi, Widening::Signed);
    else
      known = indices_.of(value, Widening::Signed);
    const bool isItself = known && known->terms().size() == 1 && known->terms().begin()->first.size() == 1 &&
                          known->terms().begin()->first.front()->value == value;
    if (known && !isItself)
      return make<arith::IndexCastOp>(type, valueOf(*known));
  }
  refuse(value->getType()->isPointerTy() ? "an address that is used as a value" : "a value of an unusual type",
         llvm::dyn_cast<llvm::Instruction>(value));
  return zero(type ? type : builder_.getI32Type());
}

Value Body::asIndex(Value value, Widening widening) {
  if (value.getType().isIndex())
    return value;
  if (widening == Widening::Signed || value.getType().isInteger(64))
    return make<arith::IndexCastOp>(builder_.getIndexType(), value);
  return make<arith::IndexCastUIOp>(builder_.getIndexType(), value);
}

Value Body::valueOf(const Atom* atom) {
  if (atom->symbol >= 0)
    return symbols_[static_cast<size_t>(atom->symbol)];
  if (atom->loop) {
    if (Value variable = variables_.lookup(atom->loop))
      return variable;
    refuse("a variable of a loop that is used behind it", nullptr);
    return index(0);
  }
  if (atom->shift) {
    Value whole = asIndex(valueOf(atom->value), atom->widening);
    return make<arith::ShRSIOp>(whole, index(atom->shift));
  }
  if (atom->bits)
    return asIndex(make<arith::TruncIOp>(builder_.getIntegerType(atom->bits), valueOf(atom->value)), Widening::Signed);
  return asIndex(atom->expression ? valueOf(atom->expression) : valueOf(atom->value), atom->widening);
}

Value Body::valueOf(const Polynomial& polynomial) {
  Value sum;
  int64_t constant = 0;
  for (const auto& [product, factor] : polynomial.terms()) {
    if (product.empty()) {
      constant = factor;
      continue;
    }
    Value value;
    for (const Atom* atom : product) {
      Value each = valueOf(atom);
      value = value ? make<arith::MulIOp>(value, each).getResult() : each;
    }
    if (factor == -1 && sum) {
      sum = make<arith::SubIOp>(sum, value);
      continue;
    }
    if (factor != 1)
      value = make<arith::MulIOp>(value, index(factor));
    sum = sum ? make<arith::AddIOp>(sum, value).getResult() : value;
  }
  if (!sum)
    return index(constant);
  return constant ? make<arith::AddIOp>(sum, index(constant)).getResult() : sum;
}

Value Body::fold(const llvm::SCEVNAryExpr* expression, llvm::function_ref<Value(Value, Value)> operation) {
  Value result;
  for (const llvm::SCEV* operand : expression->operands()) {
    Value each = valueOf(operand);
    result = result ? operation(result, each) : each;
  }
  return result;
}

Value Body::valueOf(const llvm::SCEV* expression) {
  const mlir::Type type = typeOf(expression->getType());
  switch (expression->getSCEVType()) {
  case llvm::scConstant:
    return make<arith::ConstantOp>(
        builder_.getIntegerAttr(type, llvm::cast<llvm::SCEVConstant>(expression)->getAPInt()));
  case llvm::scUnknown:
    return valueOf(llvm::cast<llvm::SCEVUnknown>(expression)->getValue());
  case llvm::scAddExpr:
    return fold(llvm::cast<llvm::SCEVNAryExpr>(expression),
                [&](Value left, Value right) { return make<arith::AddIOp>(left, right).getResult(); });
  case llvm::scMulExpr:
    return fold(llvm::cast<llvm::SCEVNAryExpr>(expression),
                [&](Value left, Value right) { return make<arith::MulIOp>(left, right).getResult(); });
  case llvm::scSMaxExpr:
    return fold(llvm::cast<llvm::SCEVNAryExpr>(expression),
                [&](Value left, Value right) { return make<arith::MaxSIOp>(left, right).getResult(); });
  case llvm::scUMaxExpr:
    return fold(llvm::cast<llvm::SCEVNAryExpr>(expression),
                [&](Value left, Value right) { return make<arith::MaxUIOp>(left, right).getResult(); });
  case llvm::scSMinExpr:
    return fold(llvm::cast<llvm::SCEVNAryExpr>(expression),
                [&](Value left, Value right) { return make<arith::MinSIOp>(left, right).getResult(); });
  case llvm::scUMinExpr:
    return fold(llvm::cast<llvm::SCEVNAryExpr>(expression),
                [&](Value left, Value right) { return make<arith::MinUIOp>(left, right).getResult(); });
  case llvm::scUDivExpr: {
    const auto* quotient = llvm::cast<llvm::SCEVUDivExpr>(expression);
    // Written in front of the loop, where the divisor may be 0 although the loop is never entered.
    const auto* divisor = llvm::dyn_cast<llvm::SCEVConstant>(quotient->getRHS());
    if (!divisor || divisor->isZero())
      break;
    Value left = valueOf(quotient->getLHS()), right = valueOf(quotient->getRHS());
    return make<arith::DivUIOp>(left, right);
  }
  case llvm::scSignExtend:
    return make<arith::ExtSIOp>(type, valueOf(llvm::cast<llvm::SCEVCastExpr>(expression)->getOperand()));
  case llvm::scZeroExtend:
    return make<arith::ExtUIOp>(type, valueOf(llvm::cast<llvm::SCEVCastExpr>(expression)->getOperand()));
  case llvm::scTruncate:
    return make<arith::TruncIOp>(type, valueOf(llvm::cast<llvm::SCEVCastExpr>(expression)->getOperand()));
  case llvm::scAddRecExpr: {
    const auto* recurrence = llvm::cast<llvm::SCEVAddRecExpr>(expression);
    for (llvm::PHINode& phi : recurrence->getLoop()->getHeader()->phis())
      if (analyses_.evolution.isSCEVable(phi.getType()) && analyses_.evolution.getSCEV(&phi) == expression)
        return valueOf(&phi);
    if (!recurrence->isAffine() || !loops_.of(recurrence->getLoop()))
      break;
    // In its own type, where it may wrap.
    const CountedLoop* counted = loops_.of(recurrence->getLoop());
    Value iterations = variables_.lookup(recurrence->getLoop());
    if (!iterations)
      break;
    if (counted->variable)
      iterations =
          make<arith::SubIOp>(iterations, valueOf(indices_.of(counted->recurrence->getStart(), counted->widening)));
    Value step = valueOf(recurrence->getStepRecurrence(analyses_.evolution)), start = valueOf(recurrence->getStart());
    Value so = make<arith::MulIOp>(make<arith::IndexCastOp>(type, iterations), step);
    return make<arith::AddIOp>(start, so);
  }
  default:
    break;
  }
  refuse("a number of iterations that is not followed", nullptr);
  return zero(type ? type : builder_.getI64Type());
}

} // namespace strata::raise
