// What is said when instances wait at a barrier that all others have not reached, and have ended: by kernels of the
// dialect, and by LLVM code that runs instance by instance. Pure.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace strata::svm {

inline constexpr const char* barrierCode = "runtime-barrier";
inline constexpr const char* barrierHelp =
    "all instances must reach a barrier: take it out of the condition or loop around it that only some of them come to";

/// {0} of {1} instances wait; `node`: whose they are, empty where that has no name.
inline std::string barrierMessage(llvm::StringRef node) {
  return "{0} of {1} instances" + (node.empty() ? std::string() : " of node '" + node.str() + "'") +
         " wait at this barrier, and all others have ended";
}

} // namespace strata::svm
