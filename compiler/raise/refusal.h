// Why a function is not raised.
#pragma once

#include "llvm/IR/Instructions.h"

#include <string>

namespace strata::raise {

/// The instruction itself, or where passes have left it without a line one that has to do with it and has one: that
/// uses it or is used by it, or stands near it. Null where nothing of the function has a line.
const llvm::Instruction* withLine(const llvm::Instruction* instruction);

/// The first thing that stood in the way.
struct Refusal {
  std::string what; // "a pointer that is loaded from memory"
  const llvm::Instruction* at = nullptr;

  explicit operator bool() const { return !what.empty(); }
  /// Gives false, for the caller to return.
  bool refuse(std::string problem, const llvm::Instruction* where) {
    if (what.empty()) {
      what = std::move(problem);
      at = withLine(where);
    }
    return false;
  }
};

} // namespace strata::raise
