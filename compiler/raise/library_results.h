// Functions of C's library that give a second result through a pointer. Thread safe for different functions.
#pragma once

#include "llvm/IR/Function.h"

namespace strata::raise {

/// Replaces calls of modf and frexp, of float and double, by intrinsics and a store of the second result: memory that
/// only holds that becomes a value. The bits are the C library's, but for those of NaNs.
void expandSecondResults(llvm::Function& function);

} // namespace strata::raise
