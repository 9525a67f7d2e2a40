// Native code for what has no region in a program: kernels that are functions of external tasks, and functions of C
// that kernels call. The interpreter cannot look into them, so it calls them on its own blocks and values, compiled
// alone for this computer. Not thread safe.
#pragma once

#include "compiler/driver/pipeline.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/target/host/engine.h"

namespace strata::driver {

class NativeKernels {
public:
  /// Compiles those kernels of a logical program that are LLVM code, and the functions that it declares and an LLVM
  /// source of it defines; the program stays as it is. Null on errors (reported).
  static std::unique_ptr<NativeKernels> compile(mlir::ModuleOp program, Compiler& compiler, unsigned optimization,
                                                DiagnosticEngine& diagnostics);

  /// For interpret::Options. Valid as long as this lives.
  const std::map<std::string, interpret::ExternalKernel>& stands() const { return stands_; }

private:
  std::unique_ptr<host::Engine> engine_; // none: there are no such kernels
  std::map<std::string, interpret::ExternalKernel> stands_;
};

} // namespace strata::driver
