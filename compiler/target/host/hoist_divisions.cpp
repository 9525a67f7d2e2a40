// Innermost loops are what the vectoriser takes. What a division's operands are made of leaves the loop before it,
// where it can; a division whose operands are divisions comes after those.
#include "compiler/target/host/hoist_divisions.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

namespace strata::host {
namespace {

bool isSigned(const llvm::Instruction& division) {
  return division.getOpcode() == llvm::Instruction::SDiv || division.getOpcode() == llvm::Instruction::SRem;
}

/// Whether it could trap: then it does not leave a condition by LLVM's own passes.
bool canTrap(const llvm::Instruction& instruction) {
  if (!instruction.isIntDivRem() || instruction.getType()->isVectorTy())
    return false;
  const llvm::APInt* divisor = nullptr;
  return !llvm::PatternMatch::match(instruction.getOperand(1), llvm::PatternMatch::m_APInt(divisor)) ||
         divisor->isZero() || (isSigned(instruction) && divisor->isAllOnes());
}

/// The same operation at the end of `before`, on operands with which it does not trap.
void hoist(llvm::Instruction& division, llvm::BasicBlock& before) {
  llvm::IRBuilder<> builder(before.getTerminator());
  llvm::Value* dividend = builder.CreateFreeze(division.getOperand(0));
  llvm::Value* divisor = builder.CreateFreeze(division.getOperand(1));
  llvm::Type* type = division.getType();
  llvm::Value* traps = builder.CreateICmpEQ(divisor, llvm::ConstantInt::get(type, 0));
  if (isSigned(division)) {
    const unsigned bits = type->getIntegerBitWidth();
    llvm::Value* isLeast =
        builder.CreateICmpEQ(dividend, llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits)));
    llvm::Value* isMinusOne = builder.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type));
    traps = builder.CreateOr(traps, builder.CreateAnd(isLeast, isMinusOne));
  }
  divisor = builder.CreateSelect(traps, llvm::ConstantInt::get(type, 1), divisor);
  division.setOperand(0, dividend);
  division.setOperand(1, divisor);
  division.dropPoisonGeneratingFlags();
  division.moveBefore(before.getTerminator());
}

bool hoistFrom(llvm::Loop& loop, llvm::LoopInfo& loops, const llvm::DominatorTree& tree) {
  llvm::BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
  if (!before || !latch)
    return false;
  llvm::LoopBlocksRPO order(&loop);
  order.perform(&loops);
  bool changed = false;
  for (llvm::BasicBlock* block : order) {
    if (tree.dominates(block, latch))
      continue; // every iteration comes here
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block))
      if (canTrap(instruction) && loop.makeLoopInvariant(instruction.getOperand(0), changed) &&
          loop.makeLoopInvariant(instruction.getOperand(1), changed)) {
        hoist(instruction, *before);
        changed = true;
      }
  }
  return changed;
}

} // namespace

llvm::PreservedAnalyses HoistDivisionsPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  const auto& tree = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  bool changed = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder())
    if (loop->isInnermost())
      changed |= hoistFrom(*loop, loops, tree);
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

} // namespace strata::host
