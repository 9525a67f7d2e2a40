// What a logical program says of its accesses for those who check it: which operand of a call or copy they belong to,
// which loads read nothing that counts, and which arithmetic may not overflow. Attributes have no effect on results;
// passes may drop them. Those that free something from a check are verified (verify_marks.h).
#pragma once

#include "llvm/ADT/StringRef.h"

namespace strata::svm {

/// On an svm.scope: operands of the call or copy in it share no element that one of them writes.
constexpr llvm::StringLiteral apartAttr = "svm.apart";
/// On a move, load or store in such a scope: the number of the operand whose elements it reads or writes. An operand
/// writes no element twice.
constexpr llvm::StringLiteral operandAttr = "svm.operand";

/// On a load: the rest of an element of which a part is then written. That rest may be without a value.
constexpr llvm::StringLiteral restAttr = "svm.rest";

/// On a sum, difference or product: it is one of signed integers that the program states, and may not leave their type.
constexpr llvm::StringLiteral signedAttr = "svm.signed";

/// On an svm.check: it is about how a block lies, which the interpreter does not know.
constexpr llvm::StringLiteral layoutAttr = "svm.layout";

} // namespace strata::svm
