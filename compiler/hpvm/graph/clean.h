// Brings node functions into the form in which they are read: handles, sizes and outputs are values and not variables,
// whatever the program was compiled with.
#pragma once

#include "llvm/IR/Module.h"

namespace strata::hpvm {

/// All functions that call functions of hpvm.h for nodes, or that such calls name.
llvm::SmallVector<llvm::Function*> nodeFunctions(llvm::Module& module);

/// In place. Functions that internal nodes call, such as std::min for an extent, become part of them.
void clean(llvm::Module& module);

} // namespace strata::hpvm
