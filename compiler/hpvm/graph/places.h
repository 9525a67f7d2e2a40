// Places of LLVM's instructions in the user's files, from the line numbers that the IR carries. Loads the files that it
// meets. Not thread safe.
#pragma once

#include "base/source/diagnostic.h"

#include "llvm/IR/Instructions.h"

namespace strata::hpvm {

/// Invalid where the IR has no line, or the file is not there any more.
Location placeOf(const llvm::Instruction& instruction, SourceManager& sources);
/// Where a function begins.
Location placeOf(const llvm::Function& function, SourceManager& sources);

} // namespace strata::hpvm
