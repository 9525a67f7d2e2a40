// LLVM's own passes, on node functions alone.
#include "compiler/hpvm/graph/clean.h"

#include "compiler/hpvm/graph/calls.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace strata::hpvm {

llvm::SmallVector<llvm::Function*> nodeFunctions(llvm::Module& module) {
  llvm::SetVector<llvm::Function*> found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const CallKind kind = kindOf(instruction);
      if (kind == CallKind::None || kind == CallKind::Host)
        continue;
      if (kind != CallKind::Launch)
        found.insert(&function);
      for (llvm::Use& argument : llvm::cast<llvm::CallBase>(instruction).args())
        if (auto* node = llvm::dyn_cast<llvm::Function>(argument.get()->stripPointerCasts()))
          found.insert(node);
    }
  return found.takeVector();
}

/// A node function that is declared with a result has no return statement: to C++ its end is never reached.
static void endWithReturns(llvm::Function& function) {
  for (llvm::BasicBlock& block : function) {
    auto* end = llvm::dyn_cast<llvm::UnreachableInst>(block.getTerminator());
    if (!end)
      continue;
    const auto* before = llvm::dyn_cast_or_null<llvm::CallBase>(end->getPrevNonDebugInstruction());
    if (before && before->doesNotReturn())
      continue;
    llvm::Type* type = function.getReturnType();
    llvm::ReturnInst::Create(function.getContext(), type->isVoidTy() ? nullptr : llvm::PoisonValue::get(type), end);
    end->eraseFromParent();
  }
}

static void inlineCalls(llvm::Function& function) {
  constexpr int mostCalls = 1000; // a function that calls itself would go on for ever
  for (int count = 0; count < mostCalls; ++count) {
    llvm::CallBase* next = nullptr;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && kindOf(*call) == CallKind::None)
        if (auto* callee = call->getCalledFunction(); callee && !callee->isDeclaration() && callee != &function) {
          next = call;
          break;
        }
    llvm::InlineFunctionInfo info;
    if (!next || !llvm::InlineFunction(*next, info).isSuccess())
      return;
  }
}

void clean(llvm::Module& module) {
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::EarlyCSEPass());
  // Without optimisation Clang forbids it, and inlining with it.
  for (llvm::Function& function : module)
    if (function.hasFnAttribute(llvm::Attribute::OptimizeNone)) {
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
      function.removeFnAttr(llvm::Attribute::NoInline);
    }
  for (llvm::Function* function : nodeFunctions(module)) {
    if (function->isDeclaration())
      continue;
    endWithReturns(*function);
    if (llvm::any_of(llvm::instructions(*function),
                     [](const llvm::Instruction& each) { return isOfInternal(kindOf(each)); }))
      inlineCalls(*function);
    functions.invalidate(*function, llvm::PreservedAnalyses::none());
    passes.run(*function, functions);
  }
}

} // namespace strata::hpvm
