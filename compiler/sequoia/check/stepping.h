// A loop of C that goes in steps: for (v = start; v < bound; v += step), with any comparison, up or down, and while
// loops of this form. Works on checked programs.
#pragma once

#include "compiler/sequoia/syntax/ast.h"

#include <optional>

namespace strata::sequoia {

struct Stepping {
  const Variable* variable = nullptr;
  const Expr* start = nullptr; // null: what the variable was before
  const Expr* bound = nullptr; // what the variable itself is compared with; null: it is compared otherwise
  const Expr* step = nullptr;  // null: 1
  bool isDown = false;
  bool mayLeave = false; // a break or return may end the loop before its condition does
};

/// The variable that an expression is, seen through conversions that the program does not show; null: it is none.
const Variable* variableOf(const Expr* expr);

/// What v++, v += step and v = v + step do, and the same downwards: variable, step and direction.
std::optional<Stepping> stepOf(const Expr* expr);

/// Nothing else writes the variable, and the loop writes nothing that the bound and the step are made of.
std::optional<Stepping> steppingOf(const Stmt& loop);

} // namespace strata::sequoia
