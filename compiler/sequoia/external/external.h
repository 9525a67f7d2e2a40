// External tasks: functions that users write in C or C++ against include/sequoia.h become kernels of a program. Each is
// compiled together with a function of the kernel convention (compiler/kernel/convention.h) that describes its blocks
// as sqArray_t and calls it. Not thread safe.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/clang/clang.h"
#include "compiler/ir/svm.h"

#include <map>
#include <string>
#include <vector>

namespace strata::sequoia::external {

/// One instance of an external task. Its kernel is the one whose body is @…::@strata.ext.INSTANCE; names, types and
/// directions are the kernel's.
struct ExternalTask {
  std::string instance;                            // also the name of the user's function
  std::string file;                                // C, or C++ when it ends in .cpp, .cc or .cxx
  std::vector<std::string> sizes;                  // names of the sizes that the kernel's extents are stated in
  uint64_t scratch = 0;                            // bytes that sqLocalSpace gives
  Location where;                                  // where the mapping says so
  std::map<std::string, Location> parameters = {}; // where the program has them; those that are not known are not shown
};

/// Compiles the files and adds their code to the module, one svm.llvm_source a file. A file sees "sequoia.h", and
/// "sequoia_ext.h" with the macros of the instances that it implements. False on errors (reported).
bool compileExternals(mlir::ModuleOp module, const std::vector<ExternalTask>& tasks, DiagnosticEngine& diagnostics,
                      const clang::CFlags& flags = {});

} // namespace strata::sequoia::external
