// All notations: the only place that lists them. Thread safe.
#pragma once

#include "compiler/notation/notation.h"

namespace strata::notation {

/// In the order in which help shows them.
llvm::ArrayRef<const Notation*> allNotations();

/// The notation of a program by its file's name; null when there is none.
const Notation* notationOf(llvm::StringRef file);

} // namespace strata::notation
