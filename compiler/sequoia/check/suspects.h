// Warnings about what a checked program says and probably does not mean: a variable that is read before anything has
// written it, an output that no path writes, an assignment where a comparison belongs, loops and conditions without a
// body, a comma in an index. Each comes with what to write instead.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/sequoia/syntax/ast.h"

namespace strata::sequoia {

/// REQUIRES: `program` was checked without errors.
void warnOfSuspects(const Program& program, DiagnosticEngine& diagnostics);

/// Warns when the type of one operand decides a comparison with a constant, such as an unsigned value that is compared
/// with 0 by '>='. The operands are those that the program states, before their conversion to `common`.
void warnOfDecidedComparison(const Expr& comparison, const Expr& left, const Expr& right, const Type* common,
                             DiagnosticEngine& diagnostics);

} // namespace strata::sequoia
