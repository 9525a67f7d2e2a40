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
  bool hasStructs = false; // whether an argument is a struct or an array of such
};

/// The names of functions that are there to be raised, and of no use to a program: one for each instance, and what
/// stands for sqElmt1D and so on there.
inline constexpr const char *raisedPrefix = "strata.raised.", *rowMajorPrefix = "strata.row_major.sqElmt";

/// The kernel of an instance that is LLVM code; null where there is none.
svm::KernelOp kernelOf(mlir::ModuleOp program, const std::string& instance);

/// Checks and changes what Clang made of `file`. Kernels get bodies that can be raised, and are none of the code any
/// more. Nothing on errors (reported).
std::optional<std::string> finishExternals(mlir::ModuleOp program, const std::string& text, const std::string& file,
                                           const std::vector<ExternalCode>& tasks, DiagnosticEngine& diagnostics);

} // namespace strata::sequoia::external
