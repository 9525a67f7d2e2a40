// See verify_kernels.h.
#include "compiler/equations/dialect/verify_kernels.h"

#include "compiler/equations/dialect/system_of.h"
#include "compiler/equations/verify.h"

namespace strata::equations {

bool verifyKernels(mlir::ModuleOp module, DiagnosticEngine& diagnostics) {
  bool isFine = true;
  module.walk([&](svm::EquationsOp equations) {
    const std::optional<KernelSystem> read = systemOf(equations, diagnostics);
    isFine &= read && verify(read->system, diagnostics);
  });
  return isFine;
}

} // namespace strata::equations
