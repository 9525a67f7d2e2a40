// What a leaf does behind __hpvm__return, which stands at its end: whatever stands there would be executed after the
// outputs have been given. Thread safe for different modules.
#pragma once

#include "base/source/source.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::hpvm {

struct AfterReturn {
  const llvm::CallBase* first = nullptr; // that gives the outputs
  const llvm::Instruction* then = nullptr;
  std::string what; // "writes memory"
};

/// The first thing that others can see, or that gives outputs once more, on a way from one of the leaf's returns to its
/// end. What ends the lifetime of variables, such as destructors, is nothing; nor are ways that conditions exclude
/// which hold where the return stands. REQUIRES: the function is cleaned (clean.h).
std::optional<AfterReturn> afterReturn(llvm::Function& leaf, const std::vector<llvm::CallBase*>& returns,
                                       SourceManager& sources);

} // namespace strata::hpvm
