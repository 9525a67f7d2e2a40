// Marks the loops of tiles by the metadata that LLVM's own passes go by. See keep_tiles.h.
#include "compiler/target/host/keep_tiles.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace strata::host {

namespace {

bool worksOnVectors(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block)
      if (instruction.getType()->isVectorTy() ||
          llvm::any_of(instruction.operands(), [](const llvm::Use& use) { return use->getType()->isVectorTy(); }))
        return true;
  return false;
}

} // namespace

llvm::PreservedAnalyses KeepTilesPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost() && worksOnVectors(*loop)) {
      llvm::addStringMetadataToLoop(loop, "llvm.loop.isvectorized", 1);
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable");
    }
  return llvm::PreservedAnalyses::all();
}

} // namespace strata::host
