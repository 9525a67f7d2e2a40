// The code segment: external functions, which tiles a code block runs on, and the names that only a block knows.
#include "compiler/hbir/check/checker.h"
#include "compiler/hbir/layout/groups.h"

#include <algorithm>

namespace strata::hbir {

STRATA_DIAGNOSTIC(duplicateParameter, Error, "hbir-duplicate-parameter",
                  "function '{0}' has two parameters named '{1}'");
STRATA_DIAGNOSTIC(pathRoot, Error, "hbir-path-root", "the path of a code block begins with '{0}'");
STRATA_DIAGNOSTIC(pathGroup, Error, "hbir-path-group", "a code block names a group, and '{0}' is {1}");
STRATA_DIAGNOSTIC(pathIndices, Error, "hbir-path-indices", "group '{0}' takes {1} indices in a path, not {2}");
STRATA_DIAGNOSTIC(pathRange, Error, "hbir-path-range", "index {0} of group '{1}' is outside of [0, {2})");
STRATA_DIAGNOSTIC(pathTwice, Error, "hbir-path-twice", "the path gives the name '{0}' to two indices");
STRATA_DIAGNOSTIC(waitOutside, Error, "hbir-wait-outside",
                  "this loop waits for a tile's write, and tiles run only after the code outside of blocks");
STRATA_DIAGNOSTIC(csizeGuess, Warning, "hbir-csize",
                  "'csize' is not declared; it is taken as {0}, the length of the block's first output array '{1}'");

namespace {

/// The out array that a list of statements assigns first, by the names that are arrays.
const Array* firstAssigned(const std::vector<Stmt*>& list, const std::map<std::string_view, const Array*>& outputs) {
  for (const Stmt* each : list) {
    if (each->kind == StatementKind::Assign && each->target->kind == ExprKind::Element)
      if (auto found = outputs.find(each->target->names[0]); found != outputs.end())
        return found->second;
    for (const std::vector<Stmt*>* inner : {&each->body, &each->otherwise})
      if (const Array* found = firstAssigned(*inner, outputs))
        return found;
  }
  return nullptr;
}

} // namespace

void Checker::code() {
  scopes_.emplace_back();
  for (const CodeItem& item : tree_.code) {
    if (item.function) {
      externFunction(*item.function);
    } else if (item.block) {
      block(*item.block);
    } else if (item.statement->kind == StatementKind::Declare) {
      if (StatementPtr made = declaration(*item.statement, true))
        program_.start.push_back(std::move(made));
    } else if (StatementPtr made = statement(*item.statement)) {
      program_.start.push_back(std::move(made));
    }
  }
  markWaitingLoops(program_);
  refuseWaiting(program_.start);
}

/// No tile runs before the code outside of blocks has ended, so nothing there can wait for one.
void Checker::refuseWaiting(const std::vector<StatementPtr>& list) {
  for (const StatementPtr& each : list) {
    if (each->waits)
      diagnostics_.report(waitOutside, each->where).help("let the tiles that need it wait, in their code blocks");
    refuseWaiting(each->body);
    refuseWaiting(each->otherwise);
  }
}

void Checker::externFunction(const ExternSyntax& syntax) {
  declare(syntax.name.text, syntax.name.where, "external function");
  Extern& function = program_.externs.emplace_back();
  function.name = syntax.name.text;
  function.result = syntax.result;
  function.where = syntax.name.where;
  std::map<std::string_view, Location> names;
  for (const ParameterSyntax& parameter : syntax.parameters) {
    function.parameters.push_back(parameter.type);
    if (auto [other, isNew] = names.emplace(parameter.name.text, parameter.name.where); !isNew)
      diagnostics_.report(duplicateParameter, parameter.name.where, function.name, parameter.name.text)
          .label(other->second, "the other one");
  }
}

void Checker::block(const BlockSyntax& syntax) {
  const std::vector<PathSyntax::Part>& parts = syntax.path.parts;
  std::string root = tree_.form == Form::A ? "config" : program_.target.tiles;
  if (parts[0].name.text != root || !parts[0].indices.empty()) {
    diagnostics_.report(pathRoot, parts[0].name.where, root)
        .note("in form " + formName(tree_.form) + " it is written as " + root + ".group");
    return;
  }
  if (parts.size() == 1) {
    diagnostics_.report(pathGroup, syntax.path.where, root, "none");
    return;
  }
  const Group* group = findGroup(parts, 1, true);
  if (!group)
    return;
  if (group->tile.empty()) {
    std::string children;
    for (const Group* child : group->children)
      children += (children.empty() ? "" : ", ") + child->name;
    diagnostics_.report(pathGroup, syntax.path.where, pathOf(*group), "a group that only holds others")
        .label(group->where, "declared here")
        .help("name one that it holds: " + children);
    return;
  }
  CodeBlock& block = program_.blocks.emplace_back();
  block.group = group;
  block.where = syntax.path.where;
  std::string_view text = diagnostics_.sources().buffer(tree_.file).text();
  block.path = text.substr(block.where.begin, block.where.end - block.where.begin);

  BlockScope scope;
  scope.block = &block;
  scope.syntax = &syntax;
  for (const Group* each = group; each; each = each->parent)
    scope.chain.push_back(each);
  std::reverse(scope.chain.begin(), scope.chain.end());
  block_ = &scope;
  if (bindPath(syntax, 1))
    scoped(syntax.body, block.body);
  block_ = nullptr;
}

bool Checker::bindPath(const BlockSyntax& syntax, size_t from) {
  BlockScope& scope = *block_;
  bool formA = tree_.form == Form::A;
  std::vector<IndexExpression> replaced;
  bool ok = true;
  for (size_t i = 0; i < scope.chain.size(); ++i) {
    const Group* group = scope.chain[i];
    const PathSyntax::Part& part = syntax.path.parts[from + i];
    bool last = i + 1 == scope.chain.size();
    size_t repeats = groups_[group].repeats, given = part.indices.size(), all = group->indices.size();
    if (given != 0 && given != repeats && !(last && given == all)) {
      diagnostics_.report(pathIndices, part.name.where, group->name, repeats, given)
          .label(group->where, "declared here");
      ok = false;
      given = 0;
    }
    for (size_t k = 0; k < all; ++k) {
      bool counts = formA || last || k < repeats;
      PathIndex index;
      index.group = group;
      index.index = group->indices[k];
      if (k < given)
        ok &= bindIndex(*part.indices[k], index);
      if (!counts) {
        replaced.push_back(IndexExpression::constant(0));
        continue;
      }
      if (!index.fixed) {
        index.number = static_cast<unsigned>(scope.block->variables.size());
        scope.block->variables.push_back(
            {index.bound.empty() ? group->name + "." + index.index.name : index.bound, index.index.extent});
      }
      replaced.push_back(index.fixed ? IndexExpression::constant(index.value)
                                     : IndexExpression::variable(index.number));
      // x and y are the first two indices of form A's paths, and the tile's place in its own group elsewhere.
      if (formA || (last && k >= repeats))
        scope.coordinates.push_back(scope.indices.size());
      scope.indices.push_back(std::move(index));
    }
  }
  for (const IndexExpression& coordinate : scope.block->group->tile)
    scope.block->tile.push_back(coordinate.substitute(replaced));
  return ok;
}

bool Checker::bindIndex(const Expr& expr, PathIndex& index) {
  bool isName = expr.kind == ExprKind::Name && expr.names.size() == 1 && !constantsByName_.contains(expr.names[0]);
  if (isName) {
    for (const PathIndex& other : block_->indices)
      if (other.bound == expr.names[0]) {
        diagnostics_.report(pathTwice, expr.where, expr.names[0]);
        return false;
      }
    index.bound = expr.names[0];
    return true;
  }
  std::optional<int64_t> value = dataConstant(expr);
  if (value && (*value < 0 || *value >= index.index.extent)) {
    diagnostics_.report(pathRange, expr.where, *value, index.group->name, index.index.extent)
        .label(index.group->where, "declared here");
    return false;
  }
  index.fixed = true;
  index.value = value.value_or(0);
  return value.has_value();
}

// ---- names that a block knows ----

ExpressionPtr Checker::indexValue(size_t position, std::string_view name, const Location& where) {
  const PathIndex& index = block_->indices[position];
  if (index.fixed)
    return integer(index.value, where);
  auto [found, isNew] = block_->symbols.emplace(name, nullptr);
  if (isNew) {
    Symbol& symbol = newSymbol(SymbolKind::Index, name, index.group->where);
    symbol.number = index.number;
    found->second = &symbol;
  }
  auto result = std::make_unique<Expression>();
  result->kind = ExpressionKind::Variable;
  result->symbol = found->second;
  result->where = where;
  return result;
}

ExpressionPtr Checker::blockName(std::string_view name, const Location& where, bool explicitOnly) {
  const std::vector<PathIndex>& indices = block_->indices;
  if (explicitOnly) {
    for (size_t i = 0; i < indices.size(); ++i)
      if (indices[i].bound == name)
        return indexValue(i, name, where);
    return nullptr;
  }
  for (size_t i = 0; i < block_->coordinates.size() && i < 4; ++i) {
    if (name == coordinateNames[i])
      return indexValue(block_->coordinates[i], name, where);
    if (name != maximumNames[i])
      continue;
    // x_max belongs to the index that the path calls x, wherever it stands.
    auto named = std::find_if(indices.begin(), indices.end(),
                              [&](const PathIndex& index) { return index.bound == coordinateNames[i]; });
    return integer((named == indices.end() ? indices[block_->coordinates[i]] : *named).index.extent, where);
  }
  if (name == "tile_id") {
    auto [found, isNew] = block_->symbols.emplace("tile_id", nullptr);
    if (isNew)
      found->second = &newSymbol(SymbolKind::TileId, name, block_->block->where);
    auto result = std::make_unique<Expression>();
    result->kind = ExpressionKind::Variable;
    result->symbol = found->second;
    result->where = where;
    return result;
  }
  static constexpr std::string_view blockSize = "block_size_";
  if (name.starts_with(blockSize))
    if (auto found = blockSizes_.find(name.substr(blockSize.size())); found != blockSizes_.end())
      return integer(found->second, where);
  if (tree_.form == Form::A)
    return nullptr;
  // Form C: indices of repeated groups, the innermost first, and the sizes that groups on the path name.
  for (size_t i = indices.size(); i-- > 0;)
    if (indices[i].index.name == name)
      return indexValue(i, name, where);
  for (size_t i = block_->chain.size(); i-- > 0;)
    for (const auto& [size, value] : groups_[block_->chain[i]].sizes)
      if (size == name)
        return integer(value, where);
  const std::vector<NameSyntax>& sizes = tree_.arrangements[0].sizes;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i].text == name)
      return integer(program_.target.extents[i], where);
  return nullptr;
}

/// grid.x, row.x_max, config.tg.x_max. Null without a message when the name is none.
ExpressionPtr Checker::groupField(const Names& names, const Location& where) {
  size_t from = names[0] == "config" || names[0] == program_.target.tiles ? 1 : 0;
  if (names.size() != from + 2)
    return nullptr;
  if (block_)
    for (size_t i = 0; i < block_->indices.size(); ++i)
      if (block_->indices[i].group->name == names[from] && block_->indices[i].index.name == names.back())
        return indexValue(i, dottedName(names), where);
  std::vector<const Group*> candidates = block_ ? block_->chain : std::vector<const Group*>();
  std::reverse(candidates.begin(), candidates.end());
  if (auto found = groupNames_.find({nullptr, names[from]}); found != groupNames_.end())
    candidates.push_back(found->second);
  for (const Group* group : candidates) {
    const std::vector<int64_t>& extents = groups_[group].extents;
    for (size_t i = 0; group->name == names[from] && i < extents.size() && i < 4; ++i)
      if (names.back() == maximumNames[i])
        return integer(extents[i], where);
  }
  return nullptr;
}

ExpressionPtr Checker::csize(const Location& where) {
  std::map<std::string_view, const Array*> outputs;
  for (const Array& array : program_.arrays)
    if (array.direction == Direction::Out)
      outputs.emplace(array.name, &array);
  const Array* array = firstAssigned(block_->syntax->body, outputs);
  if (!array)
    return nullptr;
  int64_t length = productOf(array->extents).value_or(1);
  if (!block_->csizeReported)
    diagnostics_.report(csizeGuess, where, length, array->name)
        .label(array->where, "declared here")
        .help("declare it in the data segment: csize = " + std::to_string(length) + ";");
  block_->csizeReported = true;
  return integer(length, where);
}

std::vector<std::string> Checker::visibleNames() const {
  std::vector<std::string> result;
  for (const auto& scope : scopes_)
    for (const auto& [name, symbol] : scope)
      result.push_back(name);
  for (const auto& [name, symbol] : arraySymbols_)
    result.push_back(name);
  for (const Constant& constant : program_.constants)
    result.push_back(constant.name);
  if (block_) {
    result.insert(result.end(), {"x", "y", "x_max", "y_max", "tile_id"});
    for (const auto& [name, size] : blockSizes_)
      result.push_back("block_size_" + name);
    for (const PathIndex& index : block_->indices)
      if (!index.bound.empty())
        result.push_back(index.bound);
  }
  return result;
}

} // namespace strata::hbir
