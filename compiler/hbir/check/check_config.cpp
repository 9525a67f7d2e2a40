// The config segment: the groups of all three forms as tiles given by index expressions, and groups moved by a mapping.
#include "base/source/nearest_name.h"
#include "compiler/hbir/check/checker.h"

#include <algorithm>

namespace strata::hbir {

STRATA_DIAGNOSTIC(duplicateGroup, Error, "hbir-duplicate-group", "there is another group named '{0}' here");
STRATA_DIAGNOSTIC(duplicateIndex, Error, "hbir-duplicate-index", "{0} has two indices or sizes named '{1}'");
STRATA_DIAGNOSTIC(groupContent, Error, "hbir-group-content", "group '{0}' has {1}; it holds either tiles or groups");
STRATA_DIAGNOSTIC(groupDimensions, Error, "hbir-group-dimensions",
                  "group '{0}' has {1} dimensions; there can be 1 to 4");
STRATA_DIAGNOSTIC(tilePath, Error, "hbir-tile-path", "the tiles of a group are written as {0}");
STRATA_DIAGNOSTIC(unknownIndex, Error, "hbir-unknown-index", "'{0}' is no index or size that group '{1}' can use");
STRATA_DIAGNOSTIC(arrangeTiles, Error, "hbir-arrange", "{0}");
STRATA_DIAGNOSTIC(groupSize, Error, "hbir-group-size",
                  "the number of {0} of group '{1}' is not the same for every index");
STRATA_DIAGNOSTIC(emptyRange, Error, "hbir-empty-range", "group '{0}' has {1} {2}");
STRATA_DIAGNOSTIC(mapGroup, Error, "hbir-map-group", "the program has no group '{0}' outside of others");
STRATA_DIAGNOSTIC(mapRank, Error, "hbir-map-rank", "a tile of the target has {0} coordinates, not {1}");
STRATA_DIAGNOSTIC(mapOverflow, Error, "hbir-map-overflow", "group '{0}' cannot be moved so far");
STRATA_DIAGNOSTIC(mapTwice, Error, "hbir-map-twice", "'{0}' is mapped twice");

using Kind = IndexExpression::Kind;

namespace {

/// a - b as a constant where they are sums of constants and of the same other terms.
struct Sum {
  int64_t constant = 0;
  std::vector<std::pair<IndexExpression, int64_t>> terms;
  bool exact = true;

  void add(const IndexExpression& expression, int64_t factor) {
    switch (expression.kind) {
    case Kind::Constant: {
      int64_t product = 0;
      exact &= !__builtin_mul_overflow(expression.value, factor, &product) &&
               !__builtin_add_overflow(constant, product, &constant);
      return;
    }
    case Kind::Add:
    case Kind::Subtract:
      add(expression.operands[0], factor);
      return add(expression.operands[1], expression.kind == Kind::Add ? factor : -factor);
    case Kind::Multiply:
      for (size_t i : {size_t{0}, size_t{1}}) {
        int64_t product = 0;
        if (expression.operands[i].isConstant() && expression.operands[i].value != INT64_MIN &&
            !__builtin_mul_overflow(expression.operands[i].value, factor, &product))
          return product == 0 ? void() : add(expression.operands[1 - i], product);
      }
      break;
    default:
      break;
    }
    for (auto& [term, count] : terms)
      if (term == expression) {
        exact &= !__builtin_add_overflow(count, factor, &count);
        return;
      }
    terms.emplace_back(expression, factor);
  }
};

std::optional<int64_t> difference(const IndexExpression& a, const IndexExpression& b) {
  Sum sum;
  sum.add(a, 1);
  sum.add(b, -1);
  if (!sum.exact || std::any_of(sum.terms.begin(), sum.terms.end(), [](const auto& term) { return term.second != 0; }))
    return std::nullopt;
  return sum.constant;
}

/// The names of a group's rows and columns are its own, and none of its indices'.
void checkSizeNames(const std::vector<NameSyntax>& sizes, const std::vector<std::pair<NameSyntax, Expr*>>& repeats,
                    const std::string& owner, DiagnosticEngine& diagnostics) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const NameSyntax* other = i > 0 && sizes[0].text == sizes[i].text ? sizes.data() : nullptr;
    for (const auto& [name, count] : repeats)
      if (name.text == sizes[i].text)
        other = &name;
    if (other)
      diagnostics.report(duplicateIndex, sizes[i].where, owner, sizes[i].text).label(other->where, "the other one");
  }
}

} // namespace

void Checker::config() {
  if (program_.target.extents.empty())
    return;
  if (tree_.form == Form::A) {
    for (const GroupSyntax* each : tree_.groups)
      groupOfFormA(*each, nullptr);
    return;
  }
  for (const ArrangeSyntax& arrange : tree_.arrangements) {
    if (arrange.tiles.text != program_.target.tiles)
      diagnostics_
          .report(arrangeTiles, arrange.tiles.where, "'" + std::string(arrange.tiles.text) + "' is not the tile array")
          .label(program_.target.where, "this is");
    if (program_.target.extents.size() != 2)
      diagnostics_
          .report(arrangeTiles, arrange.tiles.where,
                  "'arrange' divides rows and columns, and the tile array has " +
                      std::to_string(program_.target.extents.size()) + " dimensions")
          .label(program_.target.where, "declared here");
    if (&arrange != &tree_.arrangements[0])
      diagnostics_.report(arrangeTiles, arrange.tiles.where, "the tile array is arranged twice")
          .label(tree_.arrangements[0].tiles.where, "the first time");
  }
  if (tree_.arrangements.size() != 1 || program_.target.extents.size() != 2)
    return;
  checkSizeNames(tree_.arrangements[0].sizes, {}, "the tile array", diagnostics_);
  for (const GroupSyntax* each : tree_.groups)
    groupOfArrangement(*each, nullptr);
}

Group& Checker::newGroup(const GroupSyntax& syntax, Group* parent) {
  Group& group = program_.groups.emplace_back();
  auto [other, isNew] = groupNames_.emplace(std::pair(parent, syntax.name.text), &group);
  if (!isNew)
    diagnostics_.report(duplicateGroup, syntax.name.where, syntax.name.text)
        .label(other->second->where, "the other one");
  if (!parent && syntax.name.text == program_.target.tiles)
    diagnostics_.report(duplicateGroup, syntax.name.where, syntax.name.text)
        .label(program_.target.where, "the tile array, which places and paths of code name too");
  group.name = syntax.name.text;
  group.parent = parent;
  group.where = syntax.name.where;
  if (parent)
    parent->children.push_back(&group);
  groups_[&group].syntax = &syntax;
  return group;
}

// ---- form A ----

void Checker::groupOfFormA(const GroupSyntax& syntax, Group* parent) {
  Group& group = newGroup(syntax, parent);
  if (syntax.extents.empty() || syntax.extents.size() > 4) {
    diagnostics_.report(groupDimensions, group.where, group.name, syntax.extents.size());
    return;
  }
  std::vector<int64_t> sizes =
      extents(syntax.extents, [this](const Expr& name) { return resolveInTarget(name); }, "an extent of the group");
  for (size_t i = 0; i < sizes.size(); ++i)
    group.indices.push_back({std::string(coordinateNames[i]), sizes[i]});
  groups_[&group].extents = sizes;
  groups_[&group].repeats = sizes.size();
  if (syntax.tile.has_value() != syntax.children.empty()) {
    diagnostics_.report(groupContent, group.where, group.name, syntax.tile ? "both" : "neither")
        .help("write its tiles as 'tile target." + program_.target.tiles + "[x][y];'");
    return;
  }
  if (syntax.tile)
    tileOfGroup(syntax, group);
  for (const GroupSyntax* child : syntax.children)
    groupOfFormA(*child, &group);
}

void Checker::tileOfGroup(const GroupSyntax& syntax, Group& group) {
  const Target& target = program_.target;
  const std::vector<PathSyntax::Part>& parts = syntax.tile->parts;
  bool right = parts.size() == 2 && parts[0].name.text == "target" && parts[0].indices.empty() &&
               parts[1].name.text == target.tiles && parts[1].indices.size() == target.extents.size();
  if (!right) {
    std::string form = "target." + target.tiles;
    for (size_t i = 0; i < target.extents.size() && i < 4; ++i)
      form += "[" + std::string(coordinateNames[i]) + "]";
    diagnostics_.report(tilePath, syntax.tile->where, "'tile " + form + ";'").label(target.where, "the tile array");
    return;
  }
  auto resolve = [&](const Expr& name) -> std::optional<IndexExpression> {
    if (name.names[0] == "target")
      return resolveInTarget(name);
    const Group* owner = &group;
    if (name.names.size() == 2)
      while (owner && owner->name != name.names[0])
        owner = owner->parent;
    if (owner && name.names.size() <= 2) {
      unsigned first = 0;
      for (const Group* above = owner->parent; above; above = above->parent)
        first += static_cast<unsigned>(above->indices.size());
      for (size_t i = 0; i < owner->indices.size(); ++i) {
        if (name.names.back() == owner->indices[i].name)
          return IndexExpression::variable(first + static_cast<unsigned>(i));
        if (name.names.back() == maximumNames[i])
          return IndexExpression::constant(owner->indices[i].extent);
      }
    }
    if (unknownNames_.insert(dottedName(name.names)).second)
      diagnostics_.report(unknownIndex, name.where, dottedName(name.names), group.name)
          .note("a group of one dimension has the index x, of two x and y; those of a group around it are written as "
                "name.x");
    return std::nullopt;
  };
  std::vector<IndexExpression> tile;
  for (const Expr* each : parts[1].indices)
    if (std::optional<IndexExpression> coordinate = index(*each, resolve, true))
      tile.push_back(std::move(*coordinate));
  if (tile.size() == target.extents.size())
    group.tile = std::move(tile);
}

// ---- forms B and C ----

std::optional<IndexExpression> Checker::resolveInArrangement(const Expr& name, const Group& group) {
  if (name.names.size() > 1)
    return resolveInTarget(name);
  std::string_view text = name.names[0];
  for (const Group* owner = &group; owner; owner = owner->parent) {
    unsigned first = 0;
    for (const Group* above = owner->parent; above; above = above->parent)
      first += static_cast<unsigned>(above->indices.size());
    size_t repeats = owner == &group ? owner->indices.size() : groups_[owner].repeats;
    for (size_t i = repeats; i-- > 0;)
      if (owner->indices[i].name == text)
        return IndexExpression::variable(first + static_cast<unsigned>(i));
  }
  const std::vector<int64_t>& around = group.parent ? groups_[group.parent].extents : program_.target.extents;
  const std::vector<NameSyntax>& sizes =
      group.parent ? groups_[group.parent].syntax->sizes : tree_.arrangements[0].sizes;
  for (size_t i = 0; i < sizes.size() && i < around.size(); ++i)
    if (sizes[i].text == text)
      return IndexExpression::constant(around[i]);
  for (size_t i = 0; i < 2 && i < around.size(); ++i)
    if (text == maximumNames[i] || text == (i == 0 ? "xmax" : "ymax"))
      return IndexExpression::constant(around[i]);
  if (!unknownNames_.emplace(text).second)
    return std::nullopt;
  DiagnosticBuilder builder = diagnostics_.report(unknownIndex, name.where, text, group.name);
  std::vector<NameSyntax> farther;
  for (const Group* above = &group; above; above = above->parent)
    farther.insert(farther.end(), groups_[above].syntax->sizes.begin(), groups_[above].syntax->sizes.end());
  farther.insert(farther.end(), tree_.arrangements[0].sizes.begin(), tree_.arrangements[0].sizes.end());
  for (const NameSyntax& each : farther)
    if (each.text == text) {
      builder.label(each.where, "the names of sizes are known to the groups directly inside");
      return std::nullopt;
    }
  std::vector<std::string> candidates;
  for (const NameSyntax& each : sizes)
    candidates.emplace_back(each.text);
  for (const Group* owner = &group; owner; owner = owner->parent)
    for (const GroupIndex& each : owner->indices)
      candidates.push_back(each.name);
  proposeName(builder, text, candidates);
  return std::nullopt;
}

void Checker::groupOfArrangement(const GroupSyntax& syntax, Group* parent) {
  Group& group = newGroup(syntax, parent);
  auto resolve = [&](const Expr& name) { return resolveInArrangement(name, group); };
  for (const auto& [name, count] : syntax.repeats) {
    for (const GroupIndex& other : group.indices)
      if (other.name == name.text)
        diagnostics_.report(duplicateIndex, name.where, "group '" + group.name + "'", name.text);
    group.indices.push_back({std::string(name.text), extents({count}, resolve, "the number of groups")[0]});
  }
  groups_[&group].repeats = group.indices.size();
  checkSizeNames(syntax.sizes, syntax.repeats, "group '" + group.name + "'", diagnostics_);
  std::vector<IndexExpression> origin;
  extentsOfArrangement(syntax, group, resolve, origin);
  if (groups_[&group].extents.size() != 2)
    return;
  unsigned own = 0;
  for (const Group* above = parent; above; above = above->parent)
    own += static_cast<unsigned>(above->indices.size());
  own += static_cast<unsigned>(group.indices.size());
  for (unsigned i = 0; i < 2; ++i) {
    // Coordinates count from where the group stands in its parent, whose own coordinates are left out here.
    IndexExpression base = origin[i];
    if (parent) {
      std::vector<IndexExpression> above = allVariables(own);
      std::fill(above.end() - static_cast<ptrdiff_t>(group.indices.size()) - 2,
                above.end() - static_cast<ptrdiff_t>(group.indices.size()), IndexExpression::constant(0));
      above.resize(own - group.indices.size());
      base = IndexExpression::make(Kind::Add, parent->tile[i].substitute(above), std::move(base));
    }
    group.tile.push_back(IndexExpression::make(Kind::Add, std::move(base), IndexExpression::variable(own + i)));
  }
  for (unsigned i = 0; i < 2; ++i)
    group.indices.push_back({std::string(coordinateNames[i]), groups_[&group].extents[i]});
  for (size_t i = 0; i < syntax.sizes.size(); ++i)
    groups_[&group].sizes.emplace_back(syntax.sizes[i].text, groups_[&group].extents[i]);
  for (const GroupSyntax* child : syntax.children)
    groupOfArrangement(*child, &group);
}

void Checker::extentsOfArrangement(const GroupSyntax& syntax, Group& group, const Resolve& resolve,
                                   std::vector<IndexExpression>& origin) {
  const std::vector<int64_t>& around = group.parent ? groups_[group.parent].extents : program_.target.extents;
  std::vector<int64_t> result;
  for (size_t i = 0; i < 2; ++i) {
    const RangeSyntax& range = syntax.ranges[i];
    const char* what = i == 0 ? "rows" : "columns";
    std::optional<IndexExpression> low = range.low ? index(*range.low, resolve, true) : IndexExpression::constant(0);
    if (!low)
      return;
    int64_t size = 1;
    if (range.isRange) {
      std::optional<IndexExpression> high =
          range.high ? index(*range.high, resolve, true) : IndexExpression::constant(around[i]);
      if (!high)
        return;
      std::optional<int64_t> found = difference(*high, *low);
      if (!found) {
        diagnostics_.report(groupSize, range.where, what, group.name)
            .help("write both ends with the same index terms, as 2*i : 2*i+2");
        return;
      }
      size = *found;
    }
    if (size < 1) {
      diagnostics_.report(emptyRange, range.where, group.name, size, what)
          .note("a range goes from its first " + std::string(i == 0 ? "row" : "column") +
                " up to, not including, its end");
      return;
    }
    result.push_back(size);
    origin.push_back(std::move(*low));
  }
  groups_[&group].extents = std::move(result);
}

// ---- groups named by a path, and moved ----

const Group* Checker::findGroup(const std::vector<PathSyntax::Part>& parts, size_t from, bool report) {
  const Group* found = nullptr;
  for (size_t i = from; i < parts.size(); ++i) {
    auto next = groupNames_.find({found, parts[i].name.text});
    if (next == groupNames_.end()) {
      if (!report)
        return nullptr;
      std::vector<std::string> candidates;
      for (const Group& each : program_.groups)
        if (each.parent == found)
          candidates.push_back(each.name);
      unknown(parts[i].name.where, parts[i].name.text, candidates,
              found ? "group '" + found->name + "' holds " + std::to_string(candidates.size()) + " groups" : "");
      return nullptr;
    }
    found = next->second;
  }
  return found;
}

std::optional<std::vector<int64_t>> originOf(const Program& program, const Group& group) {
  for (const Group& each : program.groups) {
    const Group* top = &each;
    size_t variables = each.indices.size();
    for (; top->parent; top = top->parent)
      variables += top->parent->indices.size();
    if (top != &group || each.tile.empty())
      continue;
    std::vector<int64_t> result;
    for (const IndexExpression& coordinate : each.tile) {
      std::optional<int64_t> value = coordinate.evaluate(std::vector<int64_t>(variables, 0));
      if (!value)
        return std::nullopt;
      result.push_back(*value);
    }
    return result;
  }
  return std::nullopt;
}

void Checker::moveGroups() {
  if (!mapping_)
    return;
  std::map<const Group*, Location> moved;
  for (const Mapping::Move& move : mapping_->moves) {
    const Group* found = nullptr;
    std::vector<std::string> candidates;
    for (const Group& each : program_.groups)
      if (!each.parent) {
        candidates.push_back(each.name);
        found = each.name == move.group.text ? &each : found;
      }
    if (!found) {
      std::string near = nearestName(move.group.text, candidates);
      DiagnosticBuilder builder = diagnostics_.report(mapGroup, move.group.where, move.group.text);
      if (!near.empty())
        builder.help("did you mean '" + near + "'?");
      if (program_.target.where.valid())
        builder.label(program_.target.where, "the tiles that the groups of the program are made of");
      continue;
    }
    if (auto [other, isNew] = moved.emplace(found, move.where); !isNew) {
      diagnostics_.report(mapTwice, move.where, found->name).label(other->second, "the first time");
      continue;
    }
    if (move.at.size() != program_.target.extents.size()) {
      diagnostics_.report(mapRank, move.where, program_.target.extents.size(), move.at.size())
          .label(program_.target.where, "the tile array");
      continue;
    }
    std::optional<std::vector<int64_t>> origin = originOf(program_, *found);
    std::vector<int64_t> delta(move.at.size());
    bool ok = origin.has_value();
    for (size_t i = 0; ok && i < delta.size(); ++i)
      ok = !__builtin_sub_overflow(move.at[i], (*origin)[i], &delta[i]);
    if (!ok) {
      diagnostics_.report(mapOverflow, move.where, found->name).label(found->where, "declared here");
      continue;
    }
    if (std::any_of(delta.begin(), delta.end(), [](int64_t each) { return each != 0; }))
      movedGroups_.emplace_back(found, move.where);
    for (Group& each : program_.groups) {
      const Group* top = &each;
      while (top->parent)
        top = top->parent;
      if (top == found)
        each.moved = move.where;
      for (size_t i = 0; top == found && i < each.tile.size(); ++i)
        each.tile[i] = IndexExpression::make(Kind::Add, std::move(each.tile[i]), IndexExpression::constant(delta[i]));
    }
  }
}

} // namespace strata::hbir
