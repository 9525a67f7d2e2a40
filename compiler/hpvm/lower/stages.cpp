// Stages are intervals of the order of the children, so that their streams have no circles.
#include "compiler/hpvm/lower/stages.h"

#include "llvm/IR/Instruction.h"

#include <algorithm>
#include <set>

namespace strata::hpvm {

std::vector<std::vector<unsigned>> stagesOf(const InternalNode& node) {
  std::vector<size_t> position(node.children.size());
  for (size_t at = 0; at < node.order.size(); ++at)
    position[node.order[at]] = at;
  // Of each place in the order: how far back one-to-one edges reach that end there or later.
  std::vector<size_t> begin(node.order.size());
  for (size_t at = 0; at < node.order.size(); ++at) {
    begin[at] = at;
    for (const Source& source : node.children[node.order[at]].inputs)
      if (source.kind == Source::Kind::Edge && source.isOneToOne)
        begin[at] = std::min(begin[at], position[source.child]);
  }
  std::vector<std::vector<unsigned>> stages;
  for (size_t end = node.order.size(); end > 0;) {
    size_t first = end - 1;
    for (size_t at = end; at-- > first;)
      first = std::min(first, begin[at]);
    stages.insert(stages.begin(), std::vector<unsigned>(node.order.begin() + static_cast<ptrdiff_t>(first),
                                                        node.order.begin() + static_cast<ptrdiff_t>(end)));
    end = first;
  }
  return stages;
}

/// The arguments of the node's function that a value is computed of.
static void collectInputs(const llvm::Value& value, std::set<unsigned>& found) {
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&value))
    found.insert(argument->getArgNo());
  else if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value))
    for (const llvm::Use& operand : instruction->operands())
      collectInputs(*operand.get(), found);
}

std::vector<unsigned> ownInputsOf(const InternalNode& node, const std::vector<unsigned>& children) {
  std::set<unsigned> found;
  for (unsigned child : children) {
    for (const llvm::Value* extent : node.children[child].extents)
      collectInputs(*extent, found);
    for (const Source& source : node.children[child].inputs)
      if (source.kind == Source::Kind::Own)
        found.insert(source.index);
  }
  return {found.begin(), found.end()};
}

} // namespace strata::hpvm
