// Constant folding: expressions whose operands are literals become literals, with the arithmetic of the target (two's
// complement, IEEE 754 in the type's own precision). Division by zero, and shifts out of range, are left as they are.
#pragma once

#include "compiler/sequoia/ast.h"

#include <optional>

namespace strata::sequoia {

/// Wraps a value to a type's width and extends it to 64 bits by the type's sign.
uint64_t wrapInteger(uint64_t value, const Type* type);

/// Folds one node whose operands are folded already. REQUIRES: the node is typed.
void fold(Expr& expr);

/// The value of a folded integer constant.
std::optional<int64_t> constantOf(const Expr* expr);

} // namespace strata::sequoia
