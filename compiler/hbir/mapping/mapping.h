// Mapping files: where groups stand and how arrays are laid out, changed without touching the program. A mapping never
// changes what a program computes. A Mapping keeps pointers into its source buffer, which must outlive it; immutable
// once read.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/hbir/program/program.h"
#include "compiler/hbir/syntax/ast.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace strata::hbir {

struct Mapping {
  /// group tg at (4, 0);
  struct Move {
    NameSyntax group;
    std::vector<int64_t> at;
    Location where;
  };
  /// array A = block[4][2] over config.tg;
  struct Home {
    NameSyntax array;
    LayoutKind kind = LayoutKind::Block;
    std::vector<int64_t> pieces; // empty: as many as the place has tiles or instances
    PathSyntax over;
    Location where;
  };
  std::vector<Move> moves;
  std::vector<Home> homes;
  std::shared_ptr<const SyntaxTree> tree; // owns the expressions
};

/// The mapping, or nothing when there are errors, which are then in `diagnostics`.
std::optional<Mapping> readMapping(BufferId file, DiagnosticEngine& diagnostics);

/// The mapping that a program uses, as a mapping file; reading the program with it gives the same program.
std::string writeMapping(const Program& program);

/// The tile at which a top-level group stands: what it, or the first group in it that has tiles, has where all
/// variables are 0. Nothing when that is no 64-bit number.
std::optional<std::vector<int64_t>> originOf(const Program& program, const Group& group);

} // namespace strata::hbir
