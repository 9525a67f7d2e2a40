// By the definitions of C (ISO/IEC 9899, annex F, "The modf functions" and "The frexp functions"): the fraction of a
// number has its sign, and none is left of an infinity; what frexp takes apart are the bits of the format.
#include "compiler/raise/library_results.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace strata::raise {

namespace {

/// The name without the letter of its type, where a call is one of a function T f(T, second*).
llvm::StringRef nameOf(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || callee->isIntrinsic() || call.isNoBuiltin() || call.arg_size() != 2)
    return {};
  llvm::StringRef name = callee->getName();
  const llvm::Type* type = call.getType();
  const bool isFloat = name.consume_back("ff") || (name != "modf" && name.consume_back("f"));
  if (name == "mod" && isFloat)
    name = "modf";
  const bool fits = (isFloat ? type->isFloatTy() : type->isDoubleTy()) && call.getArgOperand(0)->getType() == type &&
                    call.getArgOperand(1)->getType()->isPointerTy();
  return fits && (name == "modf" || name == "frexp") ? name : llvm::StringRef();
}

/// A call of an intrinsic of the call's type, in front of it.
llvm::CallInst* intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types,
                          llvm::ArrayRef<llvm::Value*> operands, llvm::CallInst& at) {
  return llvm::CallInst::Create(llvm::Intrinsic::getDeclaration(at.getModule(), id, types), operands, "",
                                at.getIterator());
}

/// The fraction; stores the whole part.
llvm::Value* writeModf(llvm::CallInst& call) {
  llvm::Value* value = call.getArgOperand(0);
  llvm::Type* type = value->getType();
  const auto before = call.getIterator();
  llvm::Value* whole = intrinsic(llvm::Intrinsic::trunc, type, value, call);
  new llvm::StoreInst(whole, call.getArgOperand(1), before);
  llvm::Value* size = intrinsic(llvm::Intrinsic::fabs, type, value, call);
  auto* isInfinite = new llvm::FCmpInst(before, llvm::CmpInst::FCMP_OEQ, size, llvm::ConstantFP::getInfinity(type));
  auto* left = llvm::BinaryOperator::CreateFSub(value, whole, "", before);
  auto* rest = llvm::SelectInst::Create(isInfinite, llvm::ConstantFP::getZero(type), left, "", before);
  return intrinsic(llvm::Intrinsic::copysign, type, {rest, value}, call);
}

/// The part from a half up to one; stores the exponent.
llvm::Value* writeFrexp(llvm::CallInst& call) {
  const auto before = call.getIterator();
  llvm::Type* type = call.getType();
  auto* both =
      intrinsic(llvm::Intrinsic::frexp, {type, llvm::Type::getInt32Ty(call.getContext())}, call.getArgOperand(0), call);
  auto* exponent = llvm::ExtractValueInst::Create(both, 1, "", before);
  new llvm::StoreInst(exponent, call.getArgOperand(1), before);
  return llvm::ExtractValueInst::Create(both, 0, "", before);
}

} // namespace

void expandSecondResults(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::StringRef name = call ? nameOf(*call) : "";
    if (name.empty())
      continue;
    const llvm::DebugLoc line = call->getDebugLoc();
    llvm::Instruction* const last = call->getPrevNode();
    llvm::Value* result = name == "modf" ? writeModf(*call) : writeFrexp(*call);
    for (llvm::Instruction* made = last ? last->getNextNode() : &call->getParent()->front(); made != call;
         made = made->getNextNode())
      made->setDebugLoc(line);
    call->replaceAllUsesWith(result);
    call->eraseFromParent();
  }
}

} // namespace strata::raise
