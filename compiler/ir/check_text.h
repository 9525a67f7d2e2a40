// Checks a program's text before MLIR's parser reads it, and refuses what would crash that parser.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace strata::svm {

struct TextProblem {
  enum Kind { NestedTooDeeply, UsedBeforeDefined } kind;
  size_t begin, end; ///< bytes of the text
};

/// The first problem of a program in the dialect: brackets or expressions nested deeper than the parser can recurse, or
/// a value that is named before it is defined. (A value that is defined within the operation that uses it makes the
/// parser use memory that it has given back.) A value that is defined nowhere is left to the parser, which reads in
/// order and finds first what is wrong first; no value of a program that is right is reported.
std::optional<TextProblem> checkText(llvm::StringRef text);

} // namespace strata::svm
