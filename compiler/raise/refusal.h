// Why a function is not raised.
#pragma once

#include "llvm/IR/Instructions.h"

#include <string>

namespace strata::raise {

/// The first thing that stood in the way.
struct Refusal {
  std::string what; // "a pointer that is loaded from memory"
  const llvm::Instruction* at = nullptr;

  explicit operator bool() const { return !what.empty(); }
  /// Gives false, for the caller to return.
  bool refuse(std::string problem, const llvm::Instruction* where) {
    if (what.empty()) {
      what = std::move(problem);
      at = where;
    }
    return false;
  }
};

} // namespace strata::raise
