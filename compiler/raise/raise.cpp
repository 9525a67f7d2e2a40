// The phases in order: what arguments are, the memory that is reached, the body.
#include "compiler/raise/raise.h"

#include "compiler/raise/body.h"

namespace strata::raise {

llvm::Type* numberType(mlir::Type type, llvm::LLVMContext& context) {
  if (type.isF32())
    return llvm::Type::getFloatTy(context);
  if (type.isF64())
    return llvm::Type::getDoubleTy(context);
  return llvm::Type::getIntNTy(context, type.isIndex() ? 64 : type.getIntOrFloatBitWidth());
}

Raising::Raising(llvm::Function& function, std::vector<Argument> arguments)
    : arguments_(std::move(arguments)), analyses_(function), loops_(analyses_), indices_(analyses_, loops_) {
  for (auto [number, argument] : llvm::enumerate(arguments_)) {
    if (argument.kind != Argument::Kind::Known)
      continue;
    Polynomial sum;
    for (const std::vector<int>& factors : argument.known) {
      Polynomial product = Polynomial::constant(1);
      for (int symbol : factors)
        product = product.times(Polynomial::of(indices_.symbol(symbol)));
      sum.add(product);
    }
    indices_.state(function.getArg(static_cast<unsigned>(number)), sum, argument.isSmall);
  }
}

bool Raising::analyze() {
  if (!analyses_.function.getReturnType()->isVoidTy())
    return refusal_.refuse("a function that returns a value", nullptr);
  ElementTypes elements;
  for (auto [number, argument] : llvm::enumerate(arguments_))
    if (argument.element)
      elements[analyses_.function.getArg(static_cast<unsigned>(number))] = {argument.element, argument.hasElements};
  auto memory = findMemory(analyses_, indices_, elements, refusal_);
  if (!memory)
    return false;
  memory_ = std::move(*memory);
  return true;
}

const MemoryBlock* Raising::blockOf(unsigned argument) const {
  const auto found = memory_.blocks.find(analyses_.function.getArg(argument));
  return found == memory_.blocks.end() ? nullptr : &found->second;
}

/// Whether a value is computed of a symbol, or of what is loaded where that says.
bool Raising::dependsOn(const llvm::Value* value, int symbol) const {
  llvm::SmallVector<const llvm::Value*> open{value};
  llvm::SmallPtrSet<const llvm::Value*, 16> seen;
  while (!open.empty()) {
    const llvm::Value* each = open.pop_back_val();
    if (!seen.insert(each).second)
      continue;
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(each)) {
      if (arguments_[argument->getArgNo()].varies)
        return true;
      for (const std::vector<int>& factors : arguments_[argument->getArgNo()].known)
        if (llvm::is_contained(factors, symbol))
          return true;
    } else if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(each))
      open.append(instruction->value_op_begin(), instruction->value_op_end());
  }
  return false;
}

/// Whether a branch on the way to an instruction, which it may not come to, asks for a symbol.
bool Raising::isChosenBy(int symbol, const llvm::Instruction& instruction) const {
  const llvm::BasicBlock* block = instruction.getParent();
  for (const auto* node = analyses_.dominators.getNode(block)->getIDom(); node; node = node->getIDom()) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(node->getBlock()->getTerminator());
    if (branch && branch->isConditional() && !analyses_.postDominators.dominates(block, node->getBlock()) &&
        dependsOn(branch->getCondition(), symbol))
      return true;
  }
  return false;
}

Raising::Movement Raising::movementOf(int symbol) const {
  Movement movement;
  bool isAnyMoved = false;
  for (const auto& [instruction, access] : memory_.accesses) {
    if (llvm::isa<llvm::AllocaInst>(access.block))
      continue; // each instance's own
    bool isMoved = false;
    for (const auto& [product, factor] : access.index.terms()) {
      const bool has = llvm::any_of(product, [&](const Atom* atom) { return atom->symbol == symbol; });
      isMoved |= has || llvm::any_of(product, [&](const Atom* atom) {
                   return atom->expression || (atom->value && dependsOn(atom->value, symbol));
                 });
      if (!has)
        continue;
      movement.byOne += product.size() == 1 && factor == 1;
      movement.mostFactors = std::max(movement.mostFactors, static_cast<unsigned>(product.size()));
    }
    isAnyMoved |= isMoved;
    movement.isFixed |= !isMoved && llvm::isa<llvm::StoreInst>(instruction) && !isChosenBy(symbol, *instruction);
  }
  movement.isFixed |= !isAnyMoved;
  return movement;
}

bool Raising::write(mlir::OpBuilder& builder, mlir::OpBuilder& variables, mlir::ArrayRef<mlir::Value> values,
                    mlir::ArrayRef<mlir::Value> symbols, const Places& places) {
  Body body(analyses_, loops_, indices_, memory_, refusal_, builder, places, calls_);
  for (auto [number, argument] : llvm::enumerate(arguments_)) {
    const llvm::Argument* own = analyses_.function.getArg(static_cast<unsigned>(number));
    if (argument.kind == Argument::Kind::Scalar)
      body.setValue(own, values[number]);
    else if (argument.kind == Argument::Kind::Block)
      body.setBlock(own, values[number]);
  }
  body.setSymbols(symbols);
  return body.write(variables);
}

} // namespace strata::raise
