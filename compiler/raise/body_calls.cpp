// Calls: functions that the caller of raising writes itself, LLVM's intrinsics and functions of C's library; and memory
// that is set or copied, element by element.
#include "compiler/raise/body.h"

#include "llvm/Demangle/Demangle.h"

namespace strata::raise {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

using mlir::Value;

bool Body::writeCall(llvm::CallInst& call) {
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::assume:
  case llvm::Intrinsic::experimental_noalias_scope_decl:
  case llvm::Intrinsic::prefetch:
    return true;
  default:
    break;
  }
  const llvm::Function* callee = call.getCalledFunction();
  if (callee && callee->getName() == barrierFunction) {
    make<svm::BarrierOp>();
    return true;
  }
  if (const auto own = callee ? calls_.find(callee->getName().str()) : calls_.end(); own != calls_.end()) {
    Values given;
    for (const llvm::Value* argument : call.args())
      given.push_back(valueOf(argument));
    const std::string problem = own->second(builder_, place_, given);
    return problem.empty() ? !refusal_ : refuse(problem, &call);
  }
  const auto isNumber = [&](const llvm::Type* type) { return bool(typeOf(type)); };
  if (auto* checked = llvm::dyn_cast<llvm::WithOverflowInst>(&call);
      checked && isNumber(checked->getLHS()->getType())) {
    pairs_[&call] = withOverflow(*checked);
    return !refusal_;
  }
  if (call.getIntrinsicID() == llvm::Intrinsic::frexp && isNumber(call.getArgOperand(0)->getType())) {
    pairs_[&call] = fractionAndExponent(valueOf(call.getArgOperand(0)));
    return !refusal_;
  }
  Value result;
  if (isNumber(call.getType()) &&
      llvm::all_of(call.args(), [&](const llvm::Use& argument) { return isNumber(argument->getType()); })) {
    result = integerFunction(call);
    if (!result)
      result = realFunction(call);
  }
  if (!result)
    return refuse(callee ? "a call of '" + llvm::demangle(callee->getName()) + "'" : "a call of a pointer", &call);
  values_[&call] = result;
  return !refusal_;
}

// ---- memory ----

/// An element of which each byte is the same.
Value Body::filling(const llvm::Value* byte, mlir::Type element) {
  const unsigned bits = element.getIntOrFloatBitWidth();
  const mlir::Type whole = builder_.getIntegerType(bits);
  Value filled;
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(byte)) {
    filled = integer(whole, llvm::APInt::getSplat(bits, constant->getValue()));
  } else {
    filled = valueOf(byte);
    if (bits > 8)
      filled = make<arith::MulIOp>(make<arith::ExtUIOp>(whole, filled),
                                   integer(whole, llvm::APInt::getSplat(bits, llvm::APInt(8, 1))));
  }
  return element == whole ? filled : make<arith::BitcastOp>(element, filled).getResult();
}

/// memset, memcpy and memmove.
bool Body::writeBulk(llvm::MemIntrinsic& bulk) {
  auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&bulk);
  const auto* filling = llvm::dyn_cast<llvm::MemSetInst>(&bulk);
  const llvm::Value* to = indices_.baseOf(bulk.getRawDest());
  const llvm::Value* from = transfer ? indices_.baseOf(transfer->getRawSource()) : nullptr;
  llvm::Type* element = memory_.blocks[to].element;
  if (!element && llvm::isa<llvm::AllocaInst>(to))
    return true; // nobody looks
  if (!element)
    return refuse("a copy of elements whose type is not known", &bulk);
  const auto bytesOf = [&](llvm::Type* type) {
    return static_cast<int64_t>(uint64_t(analyses_.layout.getTypeStoreSize(type)));
  };
  const int64_t bytes = bytesOf(element);
  if (from && (!memory_.blocks[from].element || bytesOf(memory_.blocks[from].element) != bytes))
    return refuse("a copy between arrays of elements of different sizes", &bulk);
  const auto start = indices_.bytesOf(bulk.getRawDest()).dividedBy(bytes);
  const auto source = transfer ? indices_.bytesOf(transfer->getRawSource()).dividedBy(bytes) : Polynomial();
  const auto count = indices_.of(bulk.getLength(), Widening::Unsigned).dividedBy(bytes);
  if (!start || !source || !count)
    return refuse("a copy of parts of elements", &bulk);
  const mlir::Type type = typeOf(element);
  Value first = valueOf(*start), many = valueOf(*count), read = from ? valueOf(*source) : Value();
  Value filled = filling ? this->filling(filling->getValue(), type) : Value();
  const auto writeElements = [&](bool isBackwards) {
    auto loop = make<scf::ForOp>(index(0), many, index(1));
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar(), moved = filled;
    if (isBackwards)
      number = make<arith::SubIOp>(make<arith::SubIOp>(many, index(1)), number);
    if (from) {
      moved = make<memref::LoadOp>(blocks_.lookup(from), mlir::ValueRange(make<arith::AddIOp>(read, number)));
      if (moved.getType() != type)
        moved = make<arith::BitcastOp>(type, moved);
    }
    make<memref::StoreOp>(moved, blocks_.lookup(to), mlir::ValueRange(make<arith::AddIOp>(first, number)));
  };
  if (from != to) {
    writeElements(false);
    return !refusal_;
  }
  // Onto itself: what is read later is not written before.
  auto choice = make<scf::IfOp>(compare(arith::CmpIPredicate::sle, first, read), true);
  for (bool isBackwards : {false, true}) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(isBackwards ? choice.elseBlock() : choice.thenBlock());
    writeElements(isBackwards);
  }
  return !refusal_;
}

} // namespace strata::raise
