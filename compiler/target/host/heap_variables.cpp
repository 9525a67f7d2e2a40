// A variable is acquired where the function begins and released in front of every return. Its markers of lifetime,
// which only stack slots have, go.
#include "compiler/target/host/heap_variables.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace strata::host {
namespace {

/// Scratch memory of the runtime is aligned so.
constexpr uint64_t scratchAlignment = 64;

struct Variable {
  llvm::AllocaInst* slot;
  uint64_t bytes;
  size_t order; // among the function's variables
};

/// Whether control can come back to a function at a place where it was before.
bool mayReturnTwice(const llvm::Function& function) {
  return function.callsFunctionThatReturnsTwice();
}

void moveToScratch(llvm::Function& function, const std::vector<Variable>& variables) {
  llvm::Module& module = *function.getParent();
  llvm::LLVMContext& context = module.getContext();
  auto* pointer = llvm::PointerType::get(context, 0);
  auto* word = llvm::Type::getInt64Ty(context);
  auto acquire = module.getOrInsertFunction("strata_acquire", llvm::FunctionType::get(pointer, {word, pointer}, false));
  auto release = module.getOrInsertFunction("strata_release",
                                            llvm::FunctionType::get(llvm::Type::getVoidTy(context), pointer, false));
  std::vector<llvm::Value*> held;
  for (const Variable& variable : variables) {
    llvm::AllocaInst* slot = variable.slot;
    llvm::IRBuilder<> builder(slot);
    llvm::Value* what = builder.CreateGlobalString("the variables of a function", "strata.variables");
    llvm::CallInst* block = builder.CreateCall(acquire, {builder.getInt64(variable.bytes), what});
    block->setDoesNotThrow();
    block->takeName(slot);
    for (llvm::User* user : llvm::make_early_inc_range(slot->users()))
      if (auto* marker = llvm::dyn_cast<llvm::IntrinsicInst>(user); marker && marker->isLifetimeStartOrEnd())
        marker->eraseFromParent();
    slot->replaceAllUsesWith(block);
    slot->eraseFromParent();
    held.push_back(block);
  }
  std::vector<llvm::Instruction*> ends;
  for (llvm::BasicBlock& block : function)
    if (llvm::isa<llvm::ReturnInst, llvm::ResumeInst>(block.getTerminator()))
      ends.push_back(block.getTerminator());
  for (llvm::Instruction* end : ends) {
    // Such a call stands directly before its return.
    if (auto* call = llvm::dyn_cast_or_null<llvm::CallInst>(end->getPrevNode()); call && call->isMustTailCall())
      end = call;
    llvm::IRBuilder<> builder(end);
    for (llvm::Value* block : llvm::reverse(held))
      builder.CreateCall(release, {block})->setDoesNotThrow();
  }
  // What is passed on is no longer this function's own stack, nor is anything else of it.
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call && call->isTailCall() && !call->isMustTailCall())
      call->setTailCallKind(llvm::CallInst::TCK_None);
}

} // namespace

llvm::PreservedAnalyses HeapVariablesPass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<Variable> variables;
  uint64_t total = 0;
  for (llvm::Instruction& instruction : function.getEntryBlock())
    if (auto* slot = llvm::dyn_cast<llvm::AllocaInst>(&instruction); slot && slot->isStaticAlloca()) {
      std::optional<llvm::TypeSize> size = slot->getAllocationSize(layout);
      if (!size || size->isScalable() || slot->isUsedWithInAlloca() || slot->isSwiftError() ||
          slot->getAlign().value() > scratchAlignment || slot->getAddressSpace() != 0)
        continue;
      total += size->getFixedValue();
      variables.push_back({slot, size->getFixedValue(), variables.size()});
    }
  if (total <= mostStackBytes || mayReturnTwice(function))
    return llvm::PreservedAnalyses::all();
  // The largest go, until the rest fits; of equal ones the first.
  std::vector<Variable> moved = variables;
  llvm::sort(moved, [&](const Variable& a, const Variable& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.order < b.order;
  });
  size_t count = 0;
  for (; count < moved.size() && total > mostStackBytes; ++count)
    total -= moved[count].bytes;
  moved.resize(count);
  llvm::sort(moved, [](const Variable& a, const Variable& b) { return a.order < b.order; }); // as they are acquired
  moveToScratch(function, moved);
  return llvm::PreservedAnalyses::none();
}

} // namespace strata::host
