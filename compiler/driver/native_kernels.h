// Native code for the kernels of a program that have no region: functions of external tasks. The interpreter cannot
// look into them, so it calls them on its own blocks, compiled alone for this computer. Not thread safe.
#pragma once

#include "compiler/driver/pipeline.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/target/host/engine.h"

namespace strata::driver {

class NativeKernels {
public:
  /// Compiles those kernels of a logical program that are LLVM code; the program stays as it is. Null on errors
  /// (reported).
  static std::unique_ptr<NativeKernels> compile(mlir::ModuleOp program, Compiler& compiler, unsigned optimization,
                                                DiagnosticEngine& diagnostics);

  /// For interpret::Options. Valid as long as this lives.
  const std::map<std::string, interpret::ExternalKernel>& stands() const { return stands_; }

private:
  std::unique_ptr<host::Engine> engine_; // none: there are no such kernels
  std::map<std::string, interpret::ExternalKernel> stands_;
};

} // namespace strata::driver
