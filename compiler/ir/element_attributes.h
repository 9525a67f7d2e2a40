// What an argument's elements are to those outside of the compiler, beside what the dialect computes with: attributes
// of arguments of entry points and kernels. Constants only.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace strata::svm {

/// The element type as a .npy header describes it, a string: signs, the names of members and the shapes of arrays in
/// structs, which a record does not tell.
constexpr llvm::StringLiteral elementAttr = "svm.element";
/// The name of the struct in C, a string.
constexpr llvm::StringLiteral elementNameAttr = "svm.element_name";
/// An integer: the last dimension of the block is this many words that make up one element.
constexpr llvm::StringLiteral wordsAttr = "svm.words";

} // namespace strata::svm
