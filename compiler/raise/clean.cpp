// LLVM's passes in the order that was found to raise most. Loops are not rotated: one that decides at its head whether
// to go on is a for loop as it stands. The whole of -O2 would hide indices in shifts, and make calls of loops.
#include "compiler/raise/clean.h"

#include "compiler/raise/library_results.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Error.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <utility>
#include <vector>

namespace strata::raise {

/// What is called again and again is copied so often.
static constexpr unsigned mostCopies = 256;

static llvm::CallBase* nextCall(llvm::Function& function, const llvm::SmallPtrSetImpl<llvm::Function*>& refused) {
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      llvm::Function* callee = call->getCalledFunction();
      if (callee && callee != &function && !callee->isDeclaration() && !callee->isInterposable() &&
          !refused.contains(callee) && llvm::isInlineViable(*callee).isSuccess())
        return call;
    }
  return nullptr;
}

static void inlineCalls(llvm::Function& function) {
  llvm::SmallPtrSet<llvm::Function*, 8> refused;
  for (unsigned copies = 0; copies < mostCopies; ++copies) {
    llvm::CallBase* call = nextCall(function, refused);
    if (!call)
      return;
    llvm::Function* callee = call->getCalledFunction();
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*call, info).isSuccess())
      refused.insert(callee);
  }
}

void clean(llvm::Function& function) {
  inlineCalls(function);
  expandSecondResults(function);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  llvm::FunctionPassManager passes;
  llvm::cantFail(builder.parsePassPipeline(
      passes,
      // fix-irreducible is for branches alone: it ends at a switch into a loop.
      "lower-expect,lower-switch,fix-irreducible,sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,sroa<"
      "modify-"
      "cfg>,lower-constant-intrinsics,instcombine<no-verify-fixpoint>,lower-switch,mergereturn,loop-simplify,lcssa"));
  passes.run(function, functions);
  // What goes in front of a loop loses its line there, by which a refusal of it is told.
  std::vector<std::pair<llvm::WeakVH, llvm::DebugLoc>> lines;
  for (llvm::Instruction& each : llvm::instructions(function))
    if (each.getDebugLoc())
      lines.emplace_back(&each, each.getDebugLoc());
  llvm::FunctionPassManager hoist;
  llvm::cantFail(builder.parsePassPipeline(hoist, "loop-mssa(licm)"));
  hoist.run(function, functions);
  for (const auto& [value, line] : lines)
    if (auto* each = llvm::dyn_cast_or_null<llvm::Instruction>(static_cast<llvm::Value*>(value));
        each && (!each->getDebugLoc() || !each->getDebugLoc().getLine()))
      each->setDebugLoc(line);
}

} // namespace strata::raise
