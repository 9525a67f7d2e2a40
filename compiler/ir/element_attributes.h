// What an argument's elements are to those outside of the compiler, beside what the dialect computes with: attributes
// of arguments of entry points and kernels. Constants only.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace strata::svm {

/// The element type as a .npy header describes it, a string: signs, the names of members and the shapes of arrays in
/// structs, which a record does not tell.
constexpr llvm::StringLiteral elementAttr = "svm.element";
/// The struct or union in C, an array of strings: four for each type that has a name in it, innermost first and the
/// element's last. They are its name ("struct point"), its definition, typedefs of it, and assertions that it lies in
/// memory as here.
constexpr llvm::StringLiteral elementDeclarationsAttr = "svm.element_declarations";
/// On a module: all types and enumerators that the program declares, for the header of a built one; of the same form.
constexpr llvm::StringLiteral declarationsAttr = "svm.declarations";
/// An integer: the last dimension of the block is this many words that make up one element.
constexpr llvm::StringLiteral wordsAttr = "svm.words";

} // namespace strata::svm
