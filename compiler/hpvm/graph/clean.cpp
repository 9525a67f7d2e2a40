// LLVM's own passes, on node functions alone.
#include "compiler/hpvm/graph/clean.h"

#include "compiler/hpvm/graph/calls.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace strata::hpvm {

llvm::SmallVector<llvm::Function*> nodeFunctions(llvm::Module& module) {
  llvm::SetVector<llvm::Function*> found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const CallKind kind = kindOf(instruction);
      if (kind == CallKind::None || kind == CallKind::Host || kind == CallKind::Remark)
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
    llvm::Type* type = function.getReturnType();
    auto* before = llvm::dyn_cast_or_null<llvm::CallBase>(end->getPrevNonDebugInstruction());
    // Without optimisation Clang has the program trapped there.
    if (before && !type->isVoidTy() && before->getIntrinsicID() == llvm::Intrinsic::trap)
      before->eraseFromParent();
    else if (before && before->doesNotReturn())
      continue;
    llvm::ReturnInst::Create(function.getContext(), type->isVoidTy() ? nullptr : llvm::PoisonValue::get(type), end);
    end->eraseFromParent();
  }
}

/// C widens what is passed through an ellipsis. Outputs are what they were before, unless they are constants, which do
/// not tell.
static void narrowOutputs(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (kindOf(instruction) != CallKind::Return)
      continue;
    auto& call = llvm::cast<llvm::CallBase>(instruction);
    for (unsigned argument = 1; argument < call.arg_size(); ++argument) {
      auto* cast = llvm::dyn_cast<llvm::CastInst>(call.getArgOperand(argument));
      if (!cast)
        continue;
      const bool isFloat = llvm::isa<llvm::FPExtInst>(cast) && cast->getSrcTy()->isFloatTy();
      const bool isShort = llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast) && cast->getDestTy()->isIntegerTy(32);
      if (isShort && llvm::isa<llvm::ZExtInst>(cast))
        call.addParamAttr(argument, llvm::Attribute::ZExt); // for where it goes on as an int
      if (isFloat || isShort)
        call.setArgOperand(argument, cast->getOperand(0));
    }
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

/// What has no use here, wherever it stands.
static void eraseRemarks(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (kindOf(instruction) == CallKind::Remark && !llvm::isa<llvm::InvokeInst>(instruction))
        instruction.eraseFromParent();
}

/// The undefined-behaviour sanitizer looks after arithmetic by branches to calls that report, and go on or end the
/// program. A node that creates others only computes extents, which are checked when it runs: it goes on without.
static void goOnUnchecked(llvm::Function& function) {
  const auto reports = [](const llvm::BasicBlock& block) {
    return llvm::any_of(block, [](const llvm::Instruction& each) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&each);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      return callee && (callee->getName().starts_with("__ubsan_handle_") ||
                        callee->getIntrinsicID() == llvm::Intrinsic::ubsantrap);
    });
  };
  for (llvm::BasicBlock& block : function) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional())
      continue;
    for (unsigned successor : {0, 1}) {
      llvm::BasicBlock *taken = branch->getSuccessor(1 - successor), *left = branch->getSuccessor(successor);
      if (!reports(*left) || reports(*taken))
        continue;
      left->removePredecessor(&block);
      llvm::BranchInst::Create(taken, branch);
      branch->eraseFromParent();
      break;
    }
  }
  llvm::EliminateUnreachableBlocks(function);
}

/// All instances come to a barrier together: a block that holds one is not copied into the arms of a choice, as
/// SimplifyCFG does between two equal conditions. On the declaration, since InstCombine takes the attribute off calls
/// whose callee does not have it.
static void keepBarriersWhole(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (kindOf(instruction) == CallKind::Barrier)
        if (llvm::Function* barrier = llvm::cast<llvm::CallBase>(instruction).getCalledFunction()) {
          barrier->setConvergent();
          barrier->addFnAttr(llvm::Attribute::NoDuplicate);
        }
}

void clean(llvm::Module& module) {
  eraseRemarks(module);
  keepBarriersWhole(module);
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
  // What an internal node names may be seen only once it has been cleaned: the function of a lambda.
  llvm::SetVector<llvm::Function*> all;
  for (size_t next = 0;; ++next) {
    if (next == all.size())
      for (llvm::Function* each : nodeFunctions(module))
        all.insert(each);
    if (next == all.size())
      return;
    llvm::Function* const function = all[next];
    if (function->isDeclaration())
      continue;
    endWithReturns(*function);
    // A function without calls of its own hands on to another one: that of a lambda.
    const auto has = [&](auto&& isOne) {
      return llvm::any_of(llvm::instructions(*function),
                          [&](const llvm::Instruction& each) { return isOne(kindOf(each)); });
    };
    if (has(isOfInternal) || !has([](CallKind kind) { return kind != CallKind::None; }))
      inlineCalls(*function);
    if (has(isOfInternal))
      goOnUnchecked(*function);
    narrowOutputs(*function);
    functions.invalidate(*function, llvm::PreservedAnalyses::none());
    passes.run(*function, functions);
  }
}

} // namespace strata::hpvm
