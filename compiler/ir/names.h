// The names that programs give to things, as messages, figures and traces show them.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace strata::svm {

/// Whether a text holds {0}, {1}, …, which stand for values in the message of an svm.check; `most`: the greatest
/// number. A number of more than nine digits counts as the greatest there is.
bool holdsPlaceholder(llvm::StringRef text, unsigned* most = nullptr);
/// What is wrong with a name that messages, figures and traces show: it is not empty, and has neither zero characters
/// (their texts are C's) nor placeholders, which would be filled in. Empty where nothing is. Reads behind "a name
/// that".
llvm::StringRef problemOfName(llvm::StringRef name);

/// Reports a name that is no such one; `what` it is, with its article ("a counter").
mlir::LogicalResult verifyName(mlir::Operation* op, llvm::StringRef what, llvm::StringRef name);
/// The same of a label, where there is one.
mlir::LogicalResult verifyLabel(mlir::Operation* op, std::optional<llvm::StringRef> label);

} // namespace strata::svm
