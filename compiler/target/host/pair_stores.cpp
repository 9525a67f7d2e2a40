// Implements the joining of stores. The first of two moves down to the second, where nothing between them reads or
// writes its place.
#include "compiler/target/host/pair_stores.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopAccessAnalysis.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace strata::host {
namespace {

constexpr unsigned mostBetween = 16; // instructions

bool isCandidate(const llvm::Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  return store && store->isSimple() && store->getValueOperand()->getType()->isFloatTy();
}

/// The store before `second` that can go with it, and whether its place is the lower one.
std::pair<llvm::StoreInst*, bool> partnerOf(llvm::StoreInst& second, llvm::AAResults& aliases,
                                            llvm::ScalarEvolution& evolution) {
  const llvm::DataLayout& layout = second.getModule()->getDataLayout();
  llvm::Type* type = second.getValueOperand()->getType();
  llvm::SmallVector<llvm::Instruction*> between;
  for (llvm::Instruction* at = second.getPrevNode(); at && between.size() < mostBetween; at = at->getPrevNode()) {
    if (isCandidate(*at)) {
      auto* first = llvm::cast<llvm::StoreInst>(at);
      const std::optional<int> distance =
          llvm::getPointersDiff(type, first->getPointerOperand(), type, second.getPointerOperand(), layout, evolution,
                                /*StrictCheck=*/true);
      if (distance && (*distance == 1 || *distance == -1)) {
        const llvm::MemoryLocation place = llvm::MemoryLocation::get(first);
        const bool moves = llvm::none_of(between, [&](llvm::Instruction* other) {
          return llvm::isModOrRefSet(aliases.getModRefInfo(other, place)) ||
                 !llvm::isGuaranteedToTransferExecutionToSuccessor(other);
        });
        return {moves ? first : nullptr, *distance == 1};
      }
    }
    between.push_back(at);
  }
  return {nullptr, false};
}

} // namespace

llvm::PreservedAnalyses PairStoresPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& aliases = analyses.getResult<llvm::AAManager>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  bool changed = false;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (!isCandidate(instruction))
        continue;
      auto& second = llvm::cast<llvm::StoreInst>(instruction);
      const auto [first, firstIsLower] = partnerOf(second, aliases, evolution);
      if (!first)
        continue;
      llvm::StoreInst& lower = firstIsLower ? *first : second;
      llvm::StoreInst& upper = firstIsLower ? second : *first;
      llvm::IRBuilder<> builder(&second);
      llvm::Type* pair = llvm::FixedVectorType::get(lower.getValueOperand()->getType(), 2);
      llvm::Value* value = llvm::PoisonValue::get(pair);
      value = builder.CreateInsertElement(value, lower.getValueOperand(), uint64_t(0));
      value = builder.CreateInsertElement(value, upper.getValueOperand(), uint64_t(1));
      llvm::StoreInst* both = builder.CreateAlignedStore(value, lower.getPointerOperand(), lower.getAlign());
      both->setAAMetadata(lower.getAAMetadata().merge(upper.getAAMetadata()));
      first->eraseFromParent();
      second.eraseFromParent();
      changed = true;
    }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

} // namespace strata::host
