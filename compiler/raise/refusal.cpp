// Passes that move instructions take their lines away, since a debugger would jump about.
#include "compiler/raise/refusal.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"

namespace strata::raise {

/// Farther away nobody looks.
static constexpr size_t mostLookedAt = 64;

static bool hasLine(const llvm::Instruction& instruction) {
  return instruction.getDebugLoc() && instruction.getDebugLoc().getLine() && !instruction.isDebugOrPseudoInst();
}

const llvm::Instruction* withLine(const llvm::Instruction* instruction) {
  if (!instruction)
    return nullptr;
  llvm::SetVector<const llvm::Instruction*> around;
  around.insert(instruction);
  for (size_t next = 0; next < around.size() && next < mostLookedAt; ++next) {
    const llvm::Instruction* each = around[next];
    if (hasLine(*each))
      return each;
    for (const llvm::User* user : each->users())
      if (const auto* used = llvm::dyn_cast<llvm::Instruction>(user))
        around.insert(used);
    for (const llvm::Use& operand : each->operands())
      if (const auto* used = llvm::dyn_cast<llvm::Instruction>(operand.get()))
        around.insert(used);
  }
  const llvm::BasicBlock& block = *instruction->getParent();
  for (const llvm::Instruction& each : llvm::make_range(instruction->getIterator(), block.end()))
    if (hasLine(each))
      return &each;
  for (const llvm::Instruction& each : llvm::make_range(std::next(instruction->getReverseIterator()), block.rend()))
    if (hasLine(each))
      return &each;
  for (const llvm::Instruction& each : llvm::instructions(*instruction->getFunction()))
    if (hasLine(each))
      return &each;
  return nullptr;
}

} // namespace strata::raise
