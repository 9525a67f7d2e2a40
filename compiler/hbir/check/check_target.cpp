// The target segment: memories and the tile array.
#include "compiler/hbir/check/checker.h"

namespace strata::hbir {

STRATA_DIAGNOSTIC(duplicateMemory, Error, "hbir-duplicate-memory", "there is another memory or tile array named '{0}'");
STRATA_DIAGNOSTIC(widthOverSize, Error, "hbir-width",
                  "memory '{0}' is accessed {1} bytes at a time but holds {2} bytes");
STRATA_DIAGNOSTIC(tooManyDimensions, Error, "hbir-dimensions", "{0} has {1} dimensions; there can be 1 to {2}");
STRATA_DIAGNOSTIC(tooManyMemories, Error, "hbir-memory-count",
                  "the memories '{0}' of all tiles together are 2^62 or more");

void Checker::target() {
  Target& target = program_.target;
  for (const MemorySyntax& each : tree_.memories)
    memory(each, false);
  if (tree_.tiles.empty())
    return; // without a target there is none
  const TileSyntax& tiles = tree_.tiles[0];
  target.tiles = tiles.name.text;
  target.where = tiles.name.where;
  if (tiles.extents.empty() || tiles.extents.size() > 4)
    diagnostics_.report(tooManyDimensions, target.where, "the tile array", tiles.extents.size(), 4);
  for (const MemoryClass& each : target.memories)
    if (each.name == target.tiles)
      diagnostics_.report(duplicateMemory, target.where, target.tiles).label(each.where, "the other one");
  target.extents =
      extents(tiles.extents, [this](const Expr& name) { return resolveInTarget(name); }, "an extent of the tile array");
  for (const MemorySyntax& each : tiles.memories)
    memory(each, true);
}

void Checker::memory(const MemorySyntax& syntax, bool local) {
  for (const MemoryClass& other : program_.target.memories)
    if (other.local == local && other.name == syntax.name.text)
      diagnostics_.report(duplicateMemory, syntax.name.where, syntax.name.text).label(other.where, "the other one");
  std::vector<int64_t> counts =
      extents(syntax.extents, [this](const Expr& name) { return resolveInTarget(name); }, "a number of memories");
  if (counts.size() > 4)
    diagnostics_.report(tooManyDimensions, syntax.name.where, "an array of memories", counts.size(), 4);
  if (counts.empty())
    counts.push_back(1);
  MemoryClass& memory = program_.target.memories.emplace_back();
  memory.name = syntax.name.text;
  memory.count = productOf(counts).value_or(1);
  memory.size = syntax.size;
  memory.width = syntax.width;
  memory.local = local;
  memory.where = syntax.name.where;
  memoryExtents_[&memory] = std::move(counts);
  if (memory.size && memory.width && *memory.width > *memory.size)
    diagnostics_.report(widthOverSize, syntax.widthWhere, memory.name, *memory.width, *memory.size)
        .label(syntax.sizeWhere, "its size")
        .help("an access cannot be wider than the memory");
  // The instances of all tiles are numbered together.
  std::vector<int64_t> all = local ? program_.target.extents : std::vector<int64_t>();
  all.push_back(memory.count);
  if (!productOf(all)) {
    memory.count = 1;
    diagnostics_.report(tooManyMemories, syntax.name.where, memory.name);
  }
}

} // namespace strata::hbir
