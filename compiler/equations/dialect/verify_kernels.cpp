// See verify_kernels.h.
#include "compiler/equations/dialect/verify_kernels.h"

#include "compiler/equations/dialect/graph_of.h"
#include "compiler/equations/verify.h"

namespace strata::equations {

bool verifyKernels(mlir::ModuleOp module, DiagnosticEngine& diagnostics) {
  bool isFine = true;
  module.walk([&](svm::EquationsOp equations) {
    const std::optional<KernelGraph> graph = graphOf(equations, diagnostics);
    isFine &= graph && verify(graph->graph, diagnostics);
  });
  return isFine;
}

} // namespace strata::equations
