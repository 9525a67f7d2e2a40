// A mapping places a program otherwise and changes nothing that it computes. Where tiles write an array of which there
// are copies, it matters how many there are, which of them a tile has, and which goes back; what changes that is
// refused here.
#include "compiler/hbir/check/checker.h"
#include "compiler/hbir/check/code_facts.h"

namespace strata::hbir {

STRATA_DIAGNOSTIC(mapReplicated, Error, "hbir-map-replicated",
                  "{0} would change what the program computes: tiles write array '{1}', {2}");

namespace {

/// What a program can tell of how an array's copies are spread.
struct Copies {
  bool several = false;
  bool perTile = false; // one in every tile; else tiles take the copies of a global memory in turn
  int64_t count = 1;    // of a global memory
  int64_t returned = 0; // the tile or the instance whose copy goes back

  bool operator==(const Copies&) const = default;
};

Copies copiesOf(const Program& program, const Array& array, const Layout& layout) {
  Copies copies;
  if (layout.kind != LayoutKind::Replicated || !layout.memory)
    return copies;
  const MemoryClass& memory = *layout.memory;
  int64_t tiles = productOf(program.target.extents).value_or(1);
  if (memory.count * (memory.local ? tiles : 1) <= 1)
    return copies;
  copies.several = true;
  copies.perTile = memory.local;
  copies.count = memory.local ? 1 : memory.count;
  if (array.direction == Direction::Out)
    copies.returned = layout.instance.evaluate(std::vector<int64_t>(layout.pieces.size(), 0)).value_or(0) /
                      (memory.local ? memory.count : 1);
  return copies;
}

std::string textOf(const Copies& copies, const Layout& layout) {
  if (!copies.several)
    return "and share one copy of it in the program";
  if (copies.perTile)
    return "and in the program every tile has a copy of its own, of which one goes back";
  return "and in the program they take the " + std::to_string(copies.count) + " copies in memory '" +
         layout.memory->name + "' in turn";
}

} // namespace

/// REQUIRES: no errors; the code has been read.
void Checker::mappingKeepsCopies() {
  if (!mapping_)
    return;
  std::vector<CodeFacts> facts;
  for (const CodeBlock& block : program_.blocks)
    facts.emplace_back(block.body);
  for (const Array& array : program_.arrays) {
    auto touches = [&](size_t block, bool write) {
      Touch touch = facts[block].touch(&array);
      return touch.written || (touch.read && !write);
    };
    size_t writer = 0;
    while (writer < facts.size() && !touches(writer, true))
      ++writer;
    if (writer == facts.size())
      continue;
    auto report = [&](const Location& where, const std::string& what, const std::string& why, const char* help) {
      diagnostics_.report(mapReplicated, where, what, array.name, why)
          .label(array.where, "declared here")
          .label(program_.blocks[writer].where, "tiles of this block write it")
          .help(help);
    };
    auto declared = declaredLayouts_.find(&array);
    const Layout& before = declared == declaredLayouts_.end() ? array.layout : declared->second;
    const Copies copies = copiesOf(program_, array, before);
    if (copiesOf(program_, array, array.layout) != copies) {
      report(array.layout.where, "this layout", textOf(copies, before),
             copies.several ? "leave the array as the program has it" : "give it a layout that is not replicated");
      continue;
    }
    if (!copies.several)
      continue;
    // Which copy of a global memory a tile has depends on where the tile stands. Of copies in tiles, the one that goes
    // back stands still when the array does not lie at a group.
    for (const auto& [group, where] : movedGroups_)
      for (size_t block = 0; block < facts.size(); ++block) {
        const Group* top = program_.blocks[block].group;
        while (top->parent)
          top = top->parent;
        bool matters = copies.perTile ? array.direction == Direction::Out && !before.group && touches(block, true)
                                      : touches(block, false);
        if (top != group || !matters)
          continue;
        report(where, "moving group '" + group->name + "'", textOf(copies, before),
               "leave the group where the program has it");
        break;
      }
  }
}

} // namespace strata::hbir
