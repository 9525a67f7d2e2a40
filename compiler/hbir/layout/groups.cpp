// The rules of groups, decided with isl. See groups.h.
#include "compiler/hbir/layout/groups.h"

#include "compiler/hbir/layout/polyhedra.h"

#include <algorithm>

namespace strata::hbir {

namespace {

STRATA_DIAGNOSTIC(groupOutside, Error, "hbir-group-outside",
                  "group '{0}' leaves the target: it has a tile at {1}, and the target has {2} tiles");
STRATA_DIAGNOSTIC(groupOutsideParent, Error, "hbir-group-outside-parent",
                  "group '{0}' leaves group '{1}' that it stands in: only '{0}' has tile {2}");
STRATA_DIAGNOSTIC(groupRepeatsTile, Error, "hbir-group-repeats-tile", "group '{0}' has tile {1} twice");
STRATA_DIAGNOSTIC(groupsOverlap, Error, "hbir-groups-overlap", "groups '{0}' and '{1}' share tile {2}");
STRATA_DIAGNOSTIC(groupUndecided, Error, "hbir-group-undecided",
                  "whether the tiles of group '{0}' are distinct cannot be decided");

constexpr unsigned mostOverlaps = 32; // reported; more say nothing new

bool mentions(const IndexExpression& expression, unsigned variable) {
  if (expression.kind == IndexExpression::Kind::Variable)
    return expression.value == variable;
  return std::any_of(expression.operands.begin(), expression.operands.end(),
                     [&](const IndexExpression& operand) { return mentions(operand, variable); });
}

std::vector<int64_t> extentsOf(const std::vector<GroupIndex>& variables) {
  std::vector<int64_t> extents;
  for (const GroupIndex& variable : variables)
    extents.push_back(variable.extent);
  return extents;
}

bool isAncestor(const Group* ancestor, const Group* group) {
  for (const Group* each = group->parent; each; each = each->parent)
    if (each == ancestor)
      return true;
  return false;
}

/// "x=1, y=2", of the variables that tell tiles apart.
std::string valuesText(const Group& group, const std::vector<int64_t>& values) {
  const std::vector<GroupIndex> variables = variablesOf(group);
  const std::vector<bool> telling = tellingVariables(group);
  std::string text;
  for (size_t i = 0; i < variables.size() && i < values.size(); ++i)
    if (telling[i])
      text += (text.empty() ? "" : ", ") + variables[i].name + "=" + std::to_string(values[i]);
  return text;
}

/// A group's tiles as isl sees them.
struct Tiles {
  const Group* group = nullptr;
  std::vector<Interval> bounds; // of each coordinate; perhaps wider than the tiles
  std::optional<isl::map> map;  // from index values to tiles
  std::optional<isl::set> set;
};

class GroupChecker {
public:
  GroupChecker(const Program& program, DiagnosticEngine& diagnostics) : program_(program), diagnostics_(diagnostics) {}

  void run() {
    for (const Group& group : program_.groups)
      if (!group.tile.empty())
        guarded(group, [&] { checkAlone(group); });
    for (const Tiles& tiles : groups_)
      guarded(*tiles.group, [&] { checkParent(tiles); });
    checkPairs();
  }

private:
  /// Runs a check of a group; whatever isl gives up on becomes an error.
  template <typename Check>
  void guarded(const Group& group, Check check) {
    try {
      check();
    } catch (const std::exception&) { // isl's, by far most often its limit of steps
      undecided(group, "deciding it takes more steps than allowed");
    }
  }

  void undecided(const Group& group, const std::string& why) {
    diagnostics_.report(groupUndecided, group.where, pathOf(group))
        .note(why)
        .help("say where its tiles are with sums, and products and quotients by constants");
  }

  void checkAlone(const Group& group) {
    const std::vector<int64_t> extents = extentsOf(variablesOf(group));
    if (std::any_of(extents.begin(), extents.end(), [](int64_t extent) { return extent <= 0; }))
      return; // no tiles
    Tiles tiles{&group, {}, {}, {}};
    for (const IndexExpression& coordinate : group.tile) {
      const std::optional<Interval> range = rangeOf(coordinate, extents);
      if (!range)
        return undecided(group, "a coordinate of a tile may leave 64 bits or divide by zero");
      tiles.bounds.push_back(*range);
    }
    tiles.map = polyhedra_.map(group.tile, polyhedra_.box(extents));
    if (!tiles.map)
      return undecided(group,
                       "its tiles have a product or a quotient of two indices, or too many quotients and remainders");
    tiles.set = tiles.map->range();
    if (checkInside(tiles) && checkOnce(tiles))
      groups_.push_back(std::move(tiles));
  }

  std::vector<int64_t> tileAt(const Group& group, const std::vector<int64_t>& values) const {
    std::vector<int64_t> coordinates;
    for (const IndexExpression& coordinate : group.tile)
      coordinates.push_back(coordinate.evaluate(values).value_or(0)); // rangeOf has shown that it has a value
    return coordinates;
  }

  bool checkInside(const Tiles& tiles) {
    const std::vector<int64_t>& extents = program_.target.extents;
    bool inside = true;
    for (size_t i = 0; i < tiles.bounds.size(); ++i)
      inside = inside && tiles.bounds[i].least >= 0 && tiles.bounds[i].most < extents[i];
    if (inside)
      return true; // also by the bounds, which are never too narrow
    const isl::map outside = tiles.map->intersect_range(polyhedra_.box(extents).complement());
    if (outside.is_empty())
      return true;
    const Group& group = *tiles.group;
    const std::vector<int64_t> values = Polyhedra::first(outside.domain());
    DiagnosticBuilder builder =
        diagnostics_.report(groupOutside, group.where, pathOf(group), tileText(program_.target, tileAt(group, values)),
                            extentsText(extents));
    builder
        .label("of extents " + extentsText(extentsOf(variablesOf(group))) + "; outside with " +
               valuesText(group, values))
        .label(program_.target.where, "the tiles");
    tellMove(builder, group);
    return false;
  }

  bool checkOnce(const Tiles& tiles) {
    const Group& group = *tiles.group;
    const std::vector<bool> telling = tellingVariables(group);
    isl::map map = *tiles.map;
    for (unsigned i = static_cast<unsigned>(telling.size()); i-- > 0;)
      if (!telling[i]) // the same tiles whatever its value: one will do
        map = isl::manage(isl_map_fix_si(map.release(), isl_dim_in, i, 0));
    if (map.is_injective())
      return true;
    const isl::map same = map.apply_range(map.reverse());
    isl_space* const space = isl_set_get_space(map.domain().get());
    const isl::map twice = same.intersect(isl::manage(isl_map_lex_lt(space)));
    const std::vector<int64_t> one = Polyhedra::first(twice.domain());
    isl::set others = twice.range();
    { // those that share the tile of `one`
      isl_map* fixed = isl_map_copy(twice.get());
      for (unsigned i = 0; i < one.size(); ++i)
        fixed = isl_map_fix_val(fixed, isl_dim_in, i, isl_val_int_from_si(isl_map_get_ctx(twice.get()), one[i]));
      others = isl::manage(fixed).range();
    }
    diagnostics_.report(groupRepeatsTile, group.where, pathOf(group), tileText(program_.target, tileAt(group, one)))
        .label("with " + valuesText(group, one) + " and with " + valuesText(group, Polyhedra::first(others)));
    return false;
  }

  void checkParent(const Tiles& tiles) {
    const Group* parent = tiles.group->parent;
    while (parent && parent->tile.empty())
      parent = parent->parent;
    const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const Tiles& t) { return t.group == parent; });
    if (!parent || found == groups_.end() || tiles.set->is_subset(*found->set))
      return;
    const std::vector<int64_t> tile = Polyhedra::first(tiles.set->subtract(*found->set));
    diagnostics_
        .report(groupOutsideParent, tiles.group->where, pathOf(*tiles.group), pathOf(*parent),
                tileText(program_.target, tile))
        .label(parent->where, "'" + pathOf(*parent) + "' is declared here");
  }

  void checkPairs() {
    // Only groups whose bounds meet are compared: in order of their first rows, as far as these rows go.
    std::vector<const Tiles*> order;
    for (const Tiles& tiles : groups_)
      order.push_back(&tiles);
    std::sort(order.begin(), order.end(), [](const Tiles* a, const Tiles* b) {
      return std::pair(a->bounds.front().least, a) < std::pair(b->bounds.front().least, b);
    });
    unsigned reported = 0;
    for (size_t i = 0; i < order.size(); ++i)
      for (size_t k = i + 1; k < order.size() && order[k]->bounds.front().least <= order[i]->bounds.front().most; ++k) {
        const Tiles *first = order[i], *second = order[k];
        if (first > second)
          std::swap(first, second); // in text order
        if (!meet(*first, *second) || isAncestor(first->group, second->group))
          continue;
        bool stop = false;
        guarded(*second->group, [&] {
          stop = true; // unless it comes to an end
          const isl::set shared = first->set->intersect(*second->set);
          const bool none = shared.is_empty();
          if (!none)
            reportOverlap(*first->group, *second->group, Polyhedra::first(shared));
          stop = !none && ++reported == mostOverlaps;
        });
        if (stop)
          return;
      }
  }

  static bool meet(const Tiles& a, const Tiles& b) {
    for (size_t i = 0; i < a.bounds.size(); ++i)
      if (a.bounds[i].most < b.bounds[i].least || b.bounds[i].most < a.bounds[i].least)
        return false;
    return true;
  }

  void reportOverlap(const Group& first, const Group& second, const std::vector<int64_t>& tile) {
    DiagnosticBuilder builder = diagnostics_.report(groupsOverlap, second.where, pathOf(first), pathOf(second),
                                                    tileText(program_.target, tile));
    builder.label("'" + pathOf(second) + "' is declared here")
        .label(first.where, "'" + pathOf(first) + "' is declared here")
        .note("groups run at once, so each tile can belong to one only");
    tellMove(builder, first);
    tellMove(builder, second);
  }

  /// Where the mapping, and not the program, says where a group stands.
  static void tellMove(DiagnosticBuilder& builder, const Group& group) {
    if (group.moved.valid())
      builder.label(group.moved, "the mapping places '" + pathOf(group) + "' here");
  }

  const Program& program_;
  DiagnosticEngine& diagnostics_;
  const Polyhedra polyhedra_;
  std::vector<Tiles> groups_; // those that are right by themselves, in text order
};

} // namespace

std::vector<bool> tellingVariables(const Group& group) {
  std::vector<const Group*> chain;
  for (const Group* each = &group; each; each = each->parent)
    chain.push_back(each);
  std::reverse(chain.begin(), chain.end());
  std::vector<bool> telling;
  for (const Group* each : chain)
    for (size_t i = 0; i < each->indices.size(); ++i) {
      const auto number = static_cast<unsigned>(telling.size());
      telling.push_back(each == &group || each->tile.empty() ||
                        std::any_of(group.tile.begin(), group.tile.end(),
                                    [&](const IndexExpression& coordinate) { return mentions(coordinate, number); }));
    }
  return telling;
}

bool checkGroups(const Program& program, DiagnosticEngine& diagnostics) {
  const unsigned before = diagnostics.errorCount();
  GroupChecker(program, diagnostics).run();
  return diagnostics.errorCount() == before;
}

std::string extentsText(const std::vector<int64_t>& extents) {
  std::string text;
  for (int64_t extent : extents)
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text.empty() ? "1" : text;
}

std::string tileText(const Target& target, const std::vector<int64_t>& coordinates) {
  std::string text = target.tiles;
  for (int64_t coordinate : coordinates)
    text += "[" + std::to_string(coordinate) + "]";
  return text;
}

} // namespace strata::hbir
