// The data segment: constants, arrays, and the layouts that programs and mappings give them.
#include "compiler/hbir/check/checker.h"
#include "compiler/hbir/layout/polyhedra.h"

#include <algorithm>
#include <utility>

namespace strata::hbir {

STRATA_DIAGNOSTIC(sizeUnknown, Error, "hbir-size-name", "the data segment has no constant '{0}' to give a value to");
STRATA_DIAGNOSTIC(noExtents, Error, "hbir-array-dimensions", "array '{0}' has {1} dimensions; there can be 1 to 16");
STRATA_DIAGNOSTIC(conflictingFlags, Error, "hbir-conflicting-flags", "array '{0}' is both {1} and {2}");
STRATA_DIAGNOSTIC(unknownFlag, Error, "hbir-unknown-flag", "'{0}' says nothing about an array");
STRATA_DIAGNOSTIC(flagNotMemory, Warning, "hbir-flag-memory",
                  "array '{0}' is {1}, but memory '{2}' is {3}; it lies there");
STRATA_DIAGNOSTIC(unknownPlace, Error, "hbir-unknown-place", "'{0}' is neither a memory nor a group");
STRATA_DIAGNOSTIC(ambiguousPlace, Error, "hbir-ambiguous-place", "'{0}' is a memory, and a group has that name too");
STRATA_DIAGNOSTIC(noMemory, Error, "hbir-no-memory",
                  "the target has no memory that could hold an array located at tiles");
STRATA_DIAGNOSTIC(noTilesThere, Error, "hbir-no-tiles", "group '{0}' holds only groups");
STRATA_DIAGNOSTIC(placeIndices, Error, "hbir-place-indices", "'{0}' has {1} indices; here it takes {2}");
STRATA_DIAGNOSTIC(placeRange, Error, "hbir-place-range",
                  "index {0} of the place runs over [{1}, {2}], and there are {3}");
STRATA_DIAGNOSTIC(unknownPiece, Error, "hbir-unknown-piece", "'{0}' is no index of a piece");
STRATA_DIAGNOSTIC(mapArray, Error, "hbir-map-array", "the program has no array '{0}'");
STRATA_DIAGNOSTIC(mapPieces, Error, "hbir-map-pieces", "array '{0}' has {1} dimensions, not {2}");
STRATA_DIAGNOSTIC(homeTwice, Error, "hbir-map-array-twice", "array '{0}' is mapped twice");

namespace {

/// Form A's flags, in one text: the first is also the name of a machine, which no code of the compiler compares with.
constexpr std::string_view flagWords = "host device global local";
constexpr std::string_view hostFlag = flagWords.substr(0, 4);

std::string pathText(const PathSyntax& path) {
  std::string text;
  for (const PathSyntax::Part& part : path.parts)
    text += (text.empty() ? "" : ".") + std::string(part.name.text);
  return text;
}

std::optional<LayoutKind> layoutKind(std::string_view word) {
  if (word == "block")
    return LayoutKind::Block;
  if (word == "chunked")
    return LayoutKind::Chunked;
  if (word == "striped" || word == "strided")
    return LayoutKind::Striped;
  if (word == "replicated")
    return LayoutKind::Replicated;
  return std::nullopt;
}

} // namespace

void Checker::data() {
  constants();
  for (const ArraySyntax& each : tree_.arrays)
    array(each);
}

void Checker::constants() {
  for (const ConstantSyntax& syntax : tree_.constants) {
    declare(syntax.name.text, syntax.name.where, "constant");
    std::optional<int64_t> value = dataConstant(*syntax.value);
    if (auto given = options_.constants.find(std::string(syntax.name.text)); given != options_.constants.end())
      value = given->second;
    if (!value) {
      wrongConstants_.insert(syntax.name.text);
      continue;
    }
    Constant& constant = program_.constants.emplace_back();
    constant.name = syntax.name.text;
    constant.value = *value;
    constant.where = syntax.name.where;
    constantsByName_.emplace(constant.name, &constant);
  }
  for (const auto& [name, value] : options_.constants) {
    std::vector<std::string> candidates;
    bool found = false;
    for (const ConstantSyntax& each : tree_.constants) {
      found |= each.name.text == name;
      candidates.emplace_back(each.name.text);
    }
    if (found)
      continue;
    std::string near = nearestName(name, candidates);
    auto where = options_.places.find(name);
    DiagnosticBuilder builder =
        diagnostics_.report(sizeUnknown, where == options_.places.end() ? Location() : where->second, name);
    if (!near.empty())
      builder.help("did you mean '" + near + "'?");
  }
}

void Checker::array(const ArraySyntax& syntax) {
  declare(syntax.name.text, syntax.name.where, "array");
  Array& array = program_.arrays.emplace_back();
  array.name = syntax.name.text;
  array.type = syntax.type;
  array.where = syntax.name.where;
  if (syntax.extents.empty() || syntax.extents.size() > 16)
    diagnostics_.report(noExtents, array.where, array.name, syntax.extents.size());
  auto resolve = [this](const Expr& name) { return resolveInData(name); };
  array.extents = extents(syntax.extents, resolve, "an extent of the array");
  bool global = false, local = false;
  std::optional<LayoutKind> kind = flags(syntax, array, global, local);
  std::vector<int64_t> pieces = extents(syntax.pieces, resolve, "a number of pieces");
  std::optional<Layout> found;
  if (syntax.location && kind && !array.extents.empty())
    found = layout(array, *kind, pieces, *syntax.location, false);
  if (found) {
    array.layout = std::move(*found);
    const MemoryClass& memory = *array.layout.memory;
    if ((local && !memory.local) || (global && memory.local))
      diagnostics_
          .report(flagNotMemory, array.where, array.name, local ? "local" : "global", memory.name,
                  memory.local ? "in the tiles" : "global")
          .label(memory.where, "declared here");
    blockSizes_[array.name] = pieceElements(array.extents, *kind, array.layout.pieces);
  }
  Symbol& symbol = newSymbol(SymbolKind::Array, array.name, array.where);
  symbol.type = array.type;
  symbol.extents = array.extents;
  symbol.array = &array;
  arraySymbols_.emplace(array.name, &symbol);
}

std::optional<LayoutKind> Checker::flags(const ArraySyntax& syntax, Array& array, bool& global, bool& local) {
  std::optional<NameSyntax> kind, direction = syntax.direction, scope;
  bool ok = true;
  auto set = [&](std::optional<NameSyntax>& slot, const NameSyntax& flag, bool same) {
    if (slot && !same) {
      diagnostics_.report(conflictingFlags, flag.where, array.name, slot->text, flag.text)
          .label(slot->where, "'" + std::string(slot->text) + "' stands here");
      ok = false;
    } else if (!slot) {
      slot = flag;
    }
  };
  auto isIn = [](std::string_view word) { return word == "in" || word == hostFlag; };
  for (const NameSyntax& flag : syntax.flags) {
    if (std::optional<LayoutKind> found = layoutKind(flag.text)) {
      set(kind, flag, kind && layoutKind(kind->text) == found);
    } else if (syntax.hasPieces && (flag.text == hostFlag || flag.text == "device")) {
      set(direction, flag, direction && isIn(direction->text) == isIn(flag.text));
    } else if (syntax.hasPieces && (flag.text == "global" || flag.text == "local")) {
      set(scope, flag, scope && scope->text == flag.text);
    } else {
      std::vector<std::string> words{"block", "chunked", "striped", "strided", "replicated"};
      if (syntax.hasPieces)
        words.insert(words.end(), {std::string(hostFlag), "device", "global", "local"});
      std::string near = nearestName(flag.text, words);
      DiagnosticBuilder builder = diagnostics_.report(unknownFlag, flag.where, flag.text);
      builder.help(near.empty() ? "the words are block, chunked, striped, strided, replicated"
                                : "did you mean '" + near + "'?");
      ok = false;
    }
  }
  array.direction = !direction ? Direction::Temporary : isIn(direction->text) ? Direction::In : Direction::Out;
  global = scope && scope->text == "global";
  local = scope && scope->text == "local";
  if (!ok)
    return std::nullopt;
  return kind ? *layoutKind(kind->text) : LayoutKind::Block;
}

/// The memory or group that a path names, in whichever of the ways that there are.
std::optional<Place> Checker::place(const PathSyntax& path) {
  const Target& target = program_.target;
  const std::vector<PathSyntax::Part>& parts = path.parts;
  std::string_view root = parts[0].name.text;
  size_t from = root == "config" || root == "target" ? 1 : 0;
  // `t` before the rest: the tile array.
  bool tiles = from < parts.size() && parts[from].name.text == target.tiles;
  size_t rest = from + (tiles ? 1 : 0);
  auto groupPlace = [&](const Group* group) -> std::optional<Place> {
    const MemoryClass* memory = memoryOfTiles(target);
    if (!memory) {
      diagnostics_.report(noMemory, path.where).label(target.where, "the tile array");
      return std::nullopt;
    }
    if (!group)
      return memory->local ? placeOfTiles(target, *memory, false)
                           : placeOfGroup(target, *memory, nullptr, target.extents, {});
    if (group->tile.empty()) {
      diagnostics_.report(noTilesThere, path.where, pathOf(*group)).label(group->where, "declared here");
      return std::nullopt;
    }
    std::vector<int64_t> shape;
    for (const GroupIndex& index : variablesOf(*group))
      shape.push_back(index.extent);
    std::vector<IndexExpression> tile = group->tile;
    if (tree_.form != Form::A) {
      // The tiles of the groups around it tell nothing: their variables are left out.
      std::vector<IndexExpression> replaced;
      std::vector<int64_t> kept;
      std::vector<const Group*> chain;
      for (const Group* each = group; each; each = each->parent)
        chain.insert(chain.begin(), each);
      for (const Group* each : chain)
        for (size_t i = 0; i < each->indices.size(); ++i) {
          bool counts = each == group || i < groups_[each].repeats;
          replaced.push_back(counts ? IndexExpression::variable(static_cast<unsigned>(kept.size()))
                                    : IndexExpression::constant(0));
          if (counts)
            kept.push_back(each->indices[i].extent);
        }
      for (IndexExpression& coordinate : tile)
        coordinate = coordinate.substitute(replaced);
      shape = std::move(kept);
    }
    if (!productOf(shape)) {
      diagnostics_.report(placeRange, path.where, "1", 0, INT64_MAX, "fewer than 2^62 tiles");
      return std::nullopt;
    }
    return placeOfGroup(target, *memory, group, std::move(shape), tile);
  };
  if (root != "target" && rest < parts.size())
    if (const Group* group = findGroup(parts, rest, false)) {
      // Behind 'config' only groups are meant; else the name of a memory would silently mean something else.
      if (root != "config" && rest + 1 == parts.size())
        for (const MemoryClass& memory : target.memories)
          if (memory.local == tiles && memory.name == parts[rest].name.text) {
            diagnostics_.report(ambiguousPlace, path.where, pathText(path))
                .label(memory.where, "the memory")
                .label(group->where, "the group")
                .help("write 'target." + (tiles ? target.tiles + "." : "") + memory.name +
                      "' for the memory, 'config." + group->name + "' for the group");
            return std::nullopt;
          }
      return groupPlace(group);
    }
  if (root != "target" && rest != from && from < parts.size())
    if (const Group* group = findGroup(parts, from, false))
      return groupPlace(group);
  if (tiles && rest == parts.size())
    return groupPlace(nullptr);
  if (root != "config" && rest + 1 == parts.size())
    for (bool local : {false, true})
      for (const MemoryClass& memory : target.memories)
        if (memory.local == local && (local || !tiles) && (!local || tiles || root != "target") &&
            memory.name == parts[rest].name.text)
          return local ? placeOfTiles(target, memory, true) : placeOfMemory(memory, memoryExtents_[&memory]);
  std::vector<std::string> candidates;
  for (const MemoryClass& memory : target.memories)
    candidates.push_back(memory.local ? "target." + target.tiles + "." + memory.name : "target." + memory.name);
  for (const Group& group : program_.groups)
    candidates.push_back((tree_.form == Form::A ? "config" : target.tiles) + "." + pathOf(group));
  if (!unknownNames_.insert(pathText(path)).second)
    return std::nullopt;
  std::string near = nearestName(pathText(path), candidates);
  DiagnosticBuilder builder = diagnostics_.report(unknownPlace, path.where, pathText(path));
  if (!near.empty())
    builder.help("did you mean '" + near + "'?");
  return std::nullopt;
}

std::optional<IndexExpression> Checker::indexedInstance(const Place& place, const std::vector<int64_t>& pieces,
                                                        const std::vector<Expr*>& indices, const PathSyntax& path) {
  auto resolve = [&](const Expr& name) -> std::optional<IndexExpression> {
    if (name.names.size() == 1)
      for (size_t i = 0; i < pieces.size() && i < 4; ++i)
        if (name.names[0] == coordinateNames[i])
          return IndexExpression::variable(static_cast<unsigned>(i));
    if (name.names[0] == "target" || constantsByName_.contains(name.names[0]))
      return resolveInData(name);
    diagnostics_.report(unknownPiece, name.where, dottedName(name.names))
        .note("x counts pieces of the first dimension, y of the second, and so on");
    return std::nullopt;
  };
  std::vector<IndexExpression> results;
  for (const Expr* each : indices) {
    std::optional<IndexExpression> found = index(*each, resolve, true);
    if (!found)
      return std::nullopt;
    results.push_back(std::move(*found));
  }
  size_t rank = place.shape.size();
  if (results.size() == rank) {
    for (size_t i = 0; i < rank; ++i) {
      std::optional<Interval> range = rangeOf(results[i], pieces);
      if (!range || range->least < 0 || range->most >= place.shape[i]) {
        diagnostics_
            .report(placeRange, indices[i]->where, i + 1, range ? range->least : INT64_MIN,
                    range ? range->most : INT64_MAX, place.shape[i])
            .label(place.group ? place.group->where : place.memory->where, "declared here");
        return std::nullopt;
      }
    }
    return place.instance.substitute(results);
  }
  if (results.size() == 1 && place.numbered)
    return results[0];
  // Indices as many as the pieces have number the pieces, which are distributed over the instances.
  if (results.size() == pieces.size() && results.size() > rank && place.numbered)
    return IndexExpression::make(IndexExpression::Kind::Modulo, numberByRows(pieces, results),
                                 IndexExpression::constant(productOf(place.shape).value_or(1)));
  diagnostics_.report(placeIndices, path.where, pathText(path), results.size(), rank)
      .label(place.group ? place.group->where : place.memory->where, "declared here");
  return std::nullopt;
}

std::optional<Layout> Checker::layout(const Array& array, LayoutKind kind, std::vector<int64_t> pieces,
                                      const PathSyntax& path, bool inMapping) {
  std::vector<Expr*> indices;
  for (const PathSyntax::Part& part : path.parts)
    indices.insert(indices.end(), part.indices.begin(), part.indices.end());
  std::optional<Place> where = place(path);
  if (!where)
    return std::nullopt;
  if (pieces.empty())
    pieces = where->shape;
  Layout layout;
  layout.kind = kind;
  layout.memory = where->memory;
  layout.group = where->group;
  layout.where = inMapping ? path.where : array.where;
  layout.instance = dealPieces(*where, pieces);
  if (!indices.empty()) {
    std::optional<IndexExpression> instance = indexedInstance(*where, pieces, indices, path);
    if (!instance)
      return std::nullopt;
    layout.instance = std::move(*instance);
  }
  if (kind == LayoutKind::Block)
    mergePieces(pieces, layout.instance, array.extents.size());
  layout.pieces = std::move(pieces);
  return layout;
}

void Checker::applyHomes() {
  if (!mapping_)
    return;
  std::map<const Array*, Location> mapped;
  for (const Mapping::Home& home : mapping_->homes) {
    auto found = std::find_if(program_.arrays.begin(), program_.arrays.end(),
                              [&](const Array& each) { return each.name == home.array.text; });
    if (found == program_.arrays.end()) {
      std::vector<std::string> candidates;
      for (const Array& each : program_.arrays)
        candidates.push_back(each.name);
      std::string near = nearestName(home.array.text, candidates);
      DiagnosticBuilder builder = diagnostics_.report(mapArray, home.array.where, home.array.text);
      if (!near.empty())
        builder.help("did you mean '" + near + "'?");
      continue;
    }
    Array& array = *found;
    if (auto [other, isNew] = mapped.emplace(&array, home.where); !isNew) {
      diagnostics_.report(homeTwice, home.where, array.name).label(other->second, "the first time");
      continue;
    }
    if (home.kind == LayoutKind::Block && home.pieces.size() > array.extents.size()) {
      diagnostics_.report(mapPieces, home.where, array.name, array.extents.size(), home.pieces.size())
          .label(array.where, "declared here");
      continue;
    }
    if (std::optional<Layout> layout = this->layout(array, home.kind, home.pieces, home.over, true))
      declaredLayouts_.emplace(&array, std::exchange(array.layout, std::move(*layout)));
  }
}

} // namespace strata::hbir
