// A parameter is a size where an extent tells it, and else a number that is given with --in: as for the loop program
// that the configuration was made of.
#include "compiler/driver/data/symbolic_entry.h"

namespace strata::driver {

using array::Linear;
using array::Symbolic;
using array::SymbolicArray;

namespace {

ElementType elementType(array::Type type) {
  using enum array::Type;
  switch (type) {
  case Bool:
    return ElementType::boolean();
  case Float32:
  case Float64:
    return ElementType::floating(array::bytes(type));
  case Uint8:
  case Uint16:
  case Uint32:
  case Uint64:
    return ElementType::unsignedInteger(array::bytes(type));
  default:
    return ElementType::signedInteger(array::bytes(type));
  }
}

/// Which parameters extents tell, once those before are known: those of inputs first, whose shapes are.
std::vector<bool> toldByExtents(const Symbolic& symbolic) {
  std::vector<bool> told(symbolic.parameters.size(), false);
  const auto look = [&](const std::vector<SymbolicArray>& arrays) {
    bool changes = false;
    for (const SymbolicArray& array : arrays)
      for (const Linear& extent : array.extents) {
        std::vector<size_t> open;
        for (size_t i = 0; i < told.size(); ++i)
          if (extent.parameters[i] != 0 && !told[i])
            open.push_back(i);
        if (open.size() != 1 || std::abs(extent.parameters[open.front()]) != 1)
          continue;
        told[open.front()] = true;
        changes = true;
      }
    return changes;
  };
  while (look(symbolic.inputs))
    continue;
  while (look(symbolic.outputs) || look(symbolic.inputs))
    continue;
  return told;
}

} // namespace

SymbolicEntry::SymbolicEntry(const Symbolic& symbolic, mlir::MLIRContext& context)
    : symbolic_(symbolic), told_(toldByExtents(symbolic)) {
  entry_.name = symbolic.program;
  for (size_t i = 0; i < told_.size(); ++i)
    if (told_[i])
      entry_.sizes.push_back(symbolic.parameters[i]);
  const auto add = [&](const SymbolicArray& array, bool isOutput) {
    EntryArgument argument;
    argument.name = array.name;
    argument.isBlock = !array.extents.empty();
    argument.read = !isOutput;
    argument.written = isOutput;
    argument.type = elementType(array.type);
    argument.rank = static_cast<unsigned>(array.extents.size());
    llvm::SmallVector<mlir::AffineExpr> extents;
    bool isKnown = true;
    for (const Linear& extent : array.extents) {
      mlir::AffineExpr sum = mlir::getAffineConstantExpr(extent.constant, &context);
      unsigned symbol = 0;
      for (size_t i = 0; i < told_.size(); ++i)
        if (told_[i])
          sum = sum + mlir::getAffineSymbolExpr(symbol++, &context) * extent.parameters[i];
        else
          isKnown &= extent.parameters[i] == 0;
      extents.push_back(sum);
    }
    entry_.extents.push_back(
        isKnown ? std::optional(mlir::AffineMap::get(0, static_cast<unsigned>(entry_.sizes.size()), extents, &context))
                : std::nullopt);
    entry_.arguments.push_back(std::move(argument));
  };
  for (const SymbolicArray& array : symbolic.inputs)
    add(array, false);
  for (const SymbolicArray& array : symbolic.outputs)
    add(array, true);
  for (size_t i = 0; i < told_.size(); ++i)
    if (!told_[i]) {
      entry_.arguments.push_back(
          {symbolic.parameters[i], {}, false, true, false, false, ElementType::signedInteger(8)});
      entry_.extents.emplace_back();
    }
}

std::vector<int64_t> SymbolicEntry::sizes(const Binding& binding) const {
  size_t position = symbolic_.inputs.size() + symbolic_.outputs.size();
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < told_.size(); ++i)
    sizes.push_back(told_[i] ? binding.sizes.at(symbolic_.parameters[i]) : *binding.arrays[position++].as<int64_t>());
  return sizes;
}

SymbolicEntry::Memories SymbolicEntry::memories(Binding& binding) const {
  Memories made;
  size_t position = 0;
  for (; position < symbolic_.inputs.size(); ++position)
    made.inputs.push_back(reinterpret_cast<const std::byte*>(binding.arrays[position].data()));
  for (; position < symbolic_.inputs.size() + symbolic_.outputs.size(); ++position)
    made.outputs.push_back(reinterpret_cast<std::byte*>(binding.arrays[position].data()));
  return made;
}

} // namespace strata::driver
