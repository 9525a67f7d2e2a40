// Writes the mapping that a program uses. A layout is written over its group where that says the same, else over its
// memory with the number of the instance as an expression of the piece's coordinates.
#include "compiler/hbir/layout/groups.h"
#include "compiler/hbir/layout/places.h"
#include "compiler/hbir/mapping/mapping.h"

namespace strata::hbir {

namespace {

std::string root(const Program& program) {
  return program.form == Form::A ? "config" : program.target.tiles;
}

/// "config.tg" or "target.g" when a layout over it distributes its pieces as this one does.
std::string plainPlace(const Program& program, const Layout& layout) {
  const Target& target = program.target;
  if (layout.group && !layout.group->tile.empty()) {
    std::vector<int64_t> shape;
    std::vector<IndexExpression> replaced;
    std::vector<GroupIndex> variables = variablesOf(*layout.group);
    std::vector<bool> telling = tellingVariables(*layout.group);
    for (size_t i = 0; i < variables.size(); ++i) {
      replaced.push_back(telling[i] ? IndexExpression::variable(static_cast<unsigned>(shape.size()))
                                    : IndexExpression::constant(0));
      if (telling[i])
        shape.push_back(variables[i].extent);
    }
    std::vector<IndexExpression> tile;
    for (const IndexExpression& coordinate : layout.group->tile)
      tile.push_back(coordinate.substitute(replaced));
    Place place = placeOfGroup(target, *layout.memory, layout.group, std::move(shape), tile);
    if (dealPieces(place, layout.pieces) == layout.instance)
      return root(program) + "." + pathOf(*layout.group);
  }
  const MemoryClass& memory = *layout.memory;
  Place place = memory.local ? placeOfTiles(target, memory, true) : placeOfMemory(memory, {memory.count});
  if (dealPieces(place, layout.pieces) == layout.instance)
    return memory.local ? "target." + target.tiles + "." + memory.name : "target." + memory.name;
  return "";
}

std::string placeText(const Program& program, const Layout& layout) {
  std::string plain = plainPlace(program, layout);
  if (!plain.empty() || layout.pieces.size() > 4)
    return plain;
  const MemoryClass& memory = *layout.memory;
  std::string text = memory.local ? "target." + program.target.tiles + "." + memory.name : "target." + memory.name;
  return text + "[" + layout.instance.text({"x", "y", "z", "w"}) + "]";
}

} // namespace

std::string writeMapping(const Program& program) {
  static constexpr const char* layouts[] = {"block", "chunked", "striped", "replicated"};
  std::string text;
  for (const Group& group : program.groups) {
    std::optional<std::vector<int64_t>> origin = group.parent ? std::nullopt : originOf(program, group);
    if (!origin)
      continue;
    text += "group " + group.name + " at (";
    for (size_t i = 0; i < origin->size(); ++i)
      text += (i ? ", " : "") + std::to_string((*origin)[i]);
    text += ");\n";
  }
  for (const Array& array : program.arrays) {
    const Layout& layout = array.layout;
    std::string place = layout.memory ? placeText(program, layout) : "";
    if (place.empty())
      continue;
    text += "array " + array.name + " = " + layouts[static_cast<size_t>(layout.kind)];
    for (int64_t pieces : layout.pieces)
      text += "[" + std::to_string(pieces) + "]";
    text += " over " + place + ";\n";
  }
  return text;
}

} // namespace strata::hbir
