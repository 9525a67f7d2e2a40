// Brings a function of LLVM IR into the form that raising reads best.
#pragma once

#include "llvm/IR/Function.h"

namespace strata::raise {

/// Copies what the function calls into it, where that is defined, and simplifies: variables become values, loops keep
/// their exits at their heads, `switch` becomes branches. Calls that remain are those of other modules. Promises of the
/// function (that pointers do not alias) are used. Not thread safe, as the function's context is not.
void clean(llvm::Function& function);

} // namespace strata::raise
