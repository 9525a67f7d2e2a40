// The LLVM code of external tasks, as Clang has compiled it: whether the functions are there and take what their tasks
// give, and the names and promises that a program needs. Not thread safe.
#pragma once

#include "compiler/sequoia/external/external.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::sequoia::external {

/// A task and what there is to know of its C text. The kernel's function is @strata.ext.INSTANCE, and what calls the
/// user's function with structs is @strata_pass_INSTANCE.
struct ExternalCode {
  const ExternalTask* task = nullptr;
  std::string declaration; // of the user's function, for messages
};

/// Checks and changes what Clang made of `file`. Nothing on errors (reported).
std::optional<std::string> finishExternals(mlir::ModuleOp program, const std::string& text, const std::string& file,
                                           const std::vector<ExternalCode>& tasks, DiagnosticEngine& diagnostics);

} // namespace strata::sequoia::external
