// Callees come before their callers, so that what a call would bring along is known when its caller is looked at.
#include "compiler/target/host/limit_inlining.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

namespace strata::host {

llvm::PreservedAnalyses LimitInliningPass::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  llvm::CallGraph graph(module);
  llvm::DenseMap<const llvm::Function*, size_t> loops; // with those of what is inlined
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component)
    for (const llvm::CallGraphNode* node : *component) {
      llvm::Function* caller = node->getFunction();
      if (!caller || caller->isDeclaration())
        continue;
      const llvm::DominatorTree dominators(*caller);
      size_t count = llvm::LoopInfo(dominators).getLoopsInPreorder().size();
      for (llvm::Instruction& instruction : llvm::instructions(*caller)) {
        auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
        const size_t brought = callee ? loops.lookup(callee) : 0;
        if (brought == 0 || call->isNoInline())
          continue;
        if (count + brought > mostInlinedLoops && !call->hasFnAttr(llvm::Attribute::AlwaysInline))
          call->setIsNoInline();
        else
          count += brought;
      }
      loops[caller] = count;
    }
  return llvm::PreservedAnalyses::all();
}

} // namespace strata::host
