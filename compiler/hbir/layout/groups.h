// Whether the groups of a program are what the language asks: sets of tiles of the target, each tile named once and by
// one group (except for ancestors and descendants). Exact for groups of any size, since no tile is visited; also the
// ranges of tiles that a group names, for people. Pure functions of a checked program; safe from any thread.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/hbir/program/program.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::hbir {

/// Reports tiles outside the target or the parent, tiles that a group names twice, and groups that share tiles; false
/// after errors.
bool checkGroups(const Program& program, DiagnosticEngine& diagnostics);

/// Which of variablesOf(group) tell its tiles apart: its own, those of ancestors that only hold groups, and of other
/// ancestors those that its expressions mention (a child of a group with tiles stands within those as a whole).
std::vector<bool> tellingVariables(const Group& group);

/// Tiles begin, begin + step, … below end, in one dimension of the target.
struct TileRange {
  IndexExpression begin, end;
  int64_t step = 1;
};

/// The tiles of a group as one range a dimension, by those of its variables that are `fixed` (the expressions'
/// variables are still variablesOf(group)). Nothing when its tiles are no such product, or it has none.
std::optional<std::vector<TileRange>> tileRanges(const Group& group, const std::vector<bool>& fixed);

/// One line a group: its path, its variables, its tiles by those, and all of them.
std::string groupsText(const Program& program);

/// Whether an index is a dimension of its group's tiles; others number the repetitions of the group.
bool isDimension(const std::string& name);

/// "t[1][2]".
std::string tileText(const Target& target, const std::vector<int64_t>& coordinates);
/// "4 x 8".
std::string extentsText(const std::vector<int64_t>& extents);

} // namespace strata::hbir
