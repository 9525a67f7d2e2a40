// A search by breadth. Constants are folded through what truths are made of; sums are left out, with which a counter
// would be followed through every round of its loop.
#include "compiler/hpvm/graph/ways.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/ConstantFold.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <deque>

namespace strata::hpvm {

namespace {

using Constants = Way::Constants;

/// Ways that differ only in what is known on them.
constexpr size_t mostWaysWithConstants = 4096;

/// A value's constant on a way: its own, what the way has set, or what these make. A value was computed behind the
/// latest values of what it is computed from, since these dominate it.
llvm::Constant* constantOf(llvm::Value* value, const Constants& constants, const llvm::DataLayout& layout,
                           unsigned depth = 0) {
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value))
    return llvm::dyn_cast<llvm::ConstantInt>(constant);
  if (const auto at = constants.find(value); at != constants.end())
    return at->second;
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || depth == 8)
    return nullptr;
  const auto operand = [&](unsigned number) {
    return constantOf(instruction->getOperand(number), constants, layout, depth + 1);
  };
  using Op = llvm::Instruction;
  switch (instruction->getOpcode()) {
  case Op::And:
  case Op::Or: {
    // One side is enough where it decides.
    llvm::Constant *left = operand(0), *right = operand(1);
    const bool isAnd = instruction->getOpcode() == Op::And;
    for (llvm::Constant* side : {left, right})
      if (side && (isAnd ? side->isNullValue() : side->isAllOnesValue()))
        return side;
    return left && right ? llvm::ConstantFoldBinaryInstruction(instruction->getOpcode(), left, right) : nullptr;
  }
  case Op::Select: {
    if (const llvm::Constant* condition = operand(0))
      return operand(condition->isNullValue() ? 2 : 1);
    llvm::Constant *one = operand(1), *other = operand(2);
    return one == other ? one : nullptr;
  }
  case Op::Freeze:
    return operand(0);
  case Op::Xor:
  case Op::ICmp:
  case Op::ZExt:
  case Op::SExt:
  case Op::Trunc: {
    llvm::SmallVector<llvm::Constant*, 2> operands;
    for (unsigned number = 0; number < instruction->getNumOperands(); ++number)
      if (!operands.emplace_back(operand(number)))
        return nullptr;
    return llvm::dyn_cast_or_null<llvm::ConstantInt>(llvm::ConstantFoldInstOperands(instruction, operands, layout));
  }
  default:
    return nullptr;
  }
}

/// What is known in a block that is come to on a way: its phis are set all at once, from what was known before; all
/// else in it is computed anew.
Constants constantsIn(llvm::BasicBlock& next, const Way& way, Constants after, const llvm::DataLayout& layout) {
  Constants constants = std::move(after);
  std::erase_if(constants, [&](const auto& entry) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(entry.first);
    return instruction && instruction->getParent() == &next;
  });
  for (llvm::PHINode& phi : next.phis())
    if (llvm::Constant* value = constantOf(phi.getIncomingValueForBlock(way.block), way.constants, layout))
      constants[&phi] = value;
  return constants;
}

} // namespace

void followWays(llvm::BasicBlock& from, llvm::function_ref<bool(const Way&)> goesOn,
                llvm::function_ref<std::optional<bool>(const Way&, const llvm::Value*)> known) {
  const llvm::DataLayout& layout = from.getModule()->getDataLayout();
  std::deque<Way> open{{&from, nullptr, {}}};
  std::set<Way> seen;
  while (!open.empty()) {
    const Way way = std::move(open.front());
    open.pop_front();
    if (!goesOn(way))
      continue;
    const auto* end = way.block->getTerminator();
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(end);
    llvm::Value* condition = branch && branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1)
                                 ? branch->getCondition()
                                 : nullptr;
    std::optional<bool> value;
    if (const llvm::Constant* constant = condition ? constantOf(condition, way.constants, layout) : nullptr)
      value = !constant->isNullValue();
    if (condition && !value && known)
      value = known(way, condition);
    for (unsigned number = 0; number < end->getNumSuccessors(); ++number) {
      llvm::BasicBlock* next = end->getSuccessor(number);
      if ((value && number != (*value ? 0u : 1u)) || (llvm::isa<llvm::InvokeInst>(end) && next->isLandingPad()))
        continue;
      Way on{next, way.block, {}};
      if (seen.size() < mostWaysWithConstants) {
        Constants after = way.constants;
        // That a branch was taken tells something only where its condition is asked for again.
        if (condition && !value && condition->hasNUsesOrMore(2))
          after[condition] = llvm::ConstantInt::getBool(condition->getContext(), number == 0);
        on.constants = constantsIn(*next, way, std::move(after), layout);
      }
      if (seen.insert(on).second)
        open.push_back(std::move(on));
    }
  }
}

} // namespace strata::hpvm
