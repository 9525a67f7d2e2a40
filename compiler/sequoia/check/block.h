// What can be told about array blocks from their text: how many elements they have, whether two surely overlap, which
// variables they depend on. Undecided is an answer; nothing here guesses. Works on checked programs.
#pragma once

#include "compiler/sequoia/syntax/ast.h"

#include <optional>

namespace strata::sequoia {

/// The number of elements of a range of a dimension, when it is the same in every run.
std::optional<int64_t> staticCount(const BlockRange& range, const Extent& extent);
/// The same for a dimension of a block of any form.
std::optional<int64_t> staticCount(const Expr& block, size_t dimension);

/// Whether two expressions are the same text, with the same variables, and so have the same value in one evaluation.
bool sameExpression(const Expr* left, const Expr* right);

/// Whether two blocks name the same elements of the same array, or surely share one. A block that may be empty but for
/// that shares elements counts as overlapping.
bool surelyOverlap(const Expr& left, const Expr& right);

/// How far apart two iterations of a loop are of which one writes elements that the other has too, in a block of its
/// own (`other` is `written`) or in another argument; nothing when that cannot be told. Both blocks belong to one call,
/// and other loops' variables are taken to be the same in both iterations.
std::optional<int64_t> sharedAcross(const Expr& written, const Expr& other, const Variable* loop);

/// Whether a variable occurs in an expression or block.
bool mentions(const Expr* expr, const Variable* variable);

/// Whether a part of an expression or block was refused: what it mentions is not known then.
bool isRefused(const Expr* expr);

} // namespace strata::sequoia
