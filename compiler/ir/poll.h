// svm.poll, generated from poll.td, and the marks of loads that are about what other instances write. Like those in
// operands.h they have no effect on results.
#pragma once

#include "compiler/ir/svm.h"

#define GET_OP_CLASSES
#include "compiler/ir/poll.h.inc"

namespace strata::svm {

/// On a load in a loop that waits: what is read is how the instance learns of another's write, and no race. A fence
/// stands behind it.
constexpr llvm::StringLiteral awaitedAttr = "svm.awaited";

/// On a load: its value is compared with the one that is stored there next, and used for nothing else.
constexpr llvm::StringLiteral comparedAttr = "svm.compared";

/// On a load from a block whose first dimension numbers copies: of all copies of the element this one stays.
constexpr llvm::StringLiteral keptAttr = "svm.kept";

} // namespace strata::svm
