// Native code for what has no region in a program: kernels that are functions of external tasks, and functions of C
// that kernels call. The interpreter cannot look into them, so it calls them on its own blocks and values, compiled
// alone for this computer. Not thread safe.
#pragma once

#include "compiler/driver/compile/pipeline.h"

namespace strata::driver {

class NativeKernels {
public:
  /// Compiles those kernels of a logical program that are LLVM code, and the functions that it declares and an LLVM
  /// source of it defines; the program stays as it is. Null on errors (reported).
  static std::unique_ptr<NativeKernels> compile(mlir::ModuleOp program, Compiler& compiler, unsigned optimization,
                                                DiagnosticEngine& diagnostics);

  /// Empty when there are no such kernels. Valid as long as this lives.
  const target::NativeFunctions& functions() const { return functions_; }

private:
  std::optional<LogicalProgram> program_; // none: there are no such kernels
  std::unique_ptr<target::Artefact> artefact_;
  std::unique_ptr<target::Executable> executable_;
  target::NativeFunctions functions_;
};

} // namespace strata::driver
