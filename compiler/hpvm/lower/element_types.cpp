// What the nodes of a graph load, store and write where the pointers that it is given point.
#include "compiler/hpvm/graph/calls.h"
#include "compiler/hpvm/lower/leaf_code.h"
#include "compiler/hpvm/lower/lower_nodes.h"
#include "compiler/raise/clean.h"
#include "compiler/raise/raise.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace strata::hpvm {

/// What is loaded and stored through each pointer argument of a leaf; null where that is not told.
const std::vector<llvm::Type*>& NodeLowering::elementsOf(const LeafNode& leaf) {
  const auto [found, isNew] = elements_.try_emplace(leaf.function);
  std::vector<llvm::Type*>& elements = found->second;
  if (!isNew)
    return elements;
  elements.resize(leaf.function->arg_size());
  if (leaf.allocates)
    return elements;
  llvm::ValueToValueMapTy values;
  llvm::Function* copy = llvm::CloneFunction(leaf.function, values);
  llvm::stripDebugInfo(*copy);
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(*copy)))
    if (kindOf(instruction) == CallKind::Atomic) {
      auto& call = llvm::cast<llvm::CallBase>(instruction);
      call.replaceAllUsesWith(makeAtomic(call));
      if (llvm::isa<llvm::CallInst>(call))
        call.eraseFromParent();
    }
  raise::clean(*copy);
  {
    std::vector<raise::Argument> arguments;
    for (const llvm::Argument& argument : copy->args())
      arguments.push_back(
          {.kind = argument.getType()->isPointerTy() ? raise::Argument::Kind::Block : raise::Argument::Kind::Scalar});
    raise::Raising raising(*copy, std::move(arguments));
    raising.analyze();
    for (unsigned number = 0; number < elements.size(); ++number)
      if (const raise::MemoryBlock* block = raising.blockOf(number))
        elements[number] = block->element;
  }
  copy->eraseFromParent();
  return elements;
}

std::optional<unsigned> NodeLowering::rootInputOf(const InternalNode& node, const Source& source) {
  if (source.kind == Source::Kind::Own)
    return source.index;
  return source.kind == Source::Kind::Edge ? passedOn(node, source.child, source.index) : std::nullopt;
}

/// Where nodes load numbers of several sizes, the smallest, of which the others are made. Null where they differ
/// otherwise.
llvm::Type* NodeLowering::elementOf(const InternalNode& node, unsigned argument) {
  llvm::Type* element = nullptr;
  bool differs = false;
  const auto bits = [](const llvm::Type* type) { return type->getPrimitiveSizeInBits().getFixedValue(); };
  for (const Child& child : node.children)
    for (auto [input, source] : llvm::enumerate(child.inputs)) {
      if (rootInputOf(node, source) != argument)
        continue;
      const auto inner = graphs_.internal.find(child.function);
      llvm::Type* own = inner != graphs_.internal.end() ? elementOf(inner->second, static_cast<unsigned>(input))
                                                        : elementsOf(graphs_.leaves.at(child.function))[input];
      const bool isSmaller = own && (!element || bits(own) < bits(element));
      if (isSmaller)
        element = own;
      differs = !isSmaller && (differs || (own && own != element && bits(own) == bits(element)));
    }
  return differs ? nullptr : element;
}

bool NodeLowering::writes(const InternalNode& node, unsigned argument) {
  if (node.isWritten[argument])
    return true;
  for (const Child& child : node.children)
    for (auto [input, source] : llvm::enumerate(child.inputs)) {
      if (rootInputOf(node, source) != argument)
        continue;
      const auto inner = graphs_.internal.find(child.function);
      if (inner != graphs_.internal.end() ? writes(inner->second, static_cast<unsigned>(input))
                                          : graphs_.leaves.at(child.function).isWritten[input])
        return true;
    }
  return false;
}

} // namespace strata::hpvm
