// Constant folding: expressions whose operands are literals become literals, by the evaluator of compiler/cfamily. What
// ends a program with an error (division by zero, a shift by too much) is left as it is, and so are infinities.
#pragma once

#include "compiler/sequoia/syntax/ast.h"

#include <optional>

namespace strata::sequoia {

/// Folds one node whose operands are folded already. REQUIRES: the node is typed.
void fold(Expr& expr);

/// The value of a folded integer constant.
std::optional<int64_t> constantOf(const Expr* expr);

} // namespace strata::sequoia
