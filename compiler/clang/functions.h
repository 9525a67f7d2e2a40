// Functions of C or C++ that a program calls by name with scalars (`extern` declarations of a notation). Each file is
// compiled once; every function gets a wrapper, by which a wrong name or signature is noticed before the program runs.
// Not thread safe.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/clang/clang.h"
#include "compiler/ir/svm.h"

#include <string>
#include <vector>

namespace strata::clang {

/// A function as the program declares it. Types are C's: int, float, bool; an empty result is void.
struct ScalarFunction {
  std::string name;
  std::vector<std::string> parameters;
  std::string result;
  Location where; // the program's declaration
};

/// Compiles the files, adds their code to the module (one svm.llvm_source a file) and binds the module's declarations
/// `func.func private @NAME` to it. A function that no file defines, or two define, is an error. False on errors
/// (reported).
bool compileFunctions(mlir::ModuleOp module, const std::vector<std::string>& files,
                      const std::vector<ScalarFunction>& functions, DiagnosticEngine& diagnostics,
                      const CFlags& flags = {});

} // namespace strata::clang
