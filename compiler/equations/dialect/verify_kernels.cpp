// See verify_kernels.h.
#include "compiler/equations/dialect/verify_kernels.h"

#include "compiler/equations/dialect/graph_of.h"
#include "compiler/equations/verify.h"

namespace strata::equations {

STRATA_DIAGNOSTIC(notAParameter, Error, "equations-parameter", "a parameter of equations is an argument of their kernel, of type index");

bool verifyKernels(mlir::ModuleOp module, DiagnosticEngine& diagnostics) {
  bool isFine = true;
  module.walk([&](svm::EquationsOp equations) {
    const std::optional<KernelGraph> graph = graphOf(equations, diagnostics);
    if (graph)
      for (const unsigned number : graph->parameters)
        if (number == ~0u) {
          diagnostics.report(notAParameter, graph->graph.location);
          isFine = false;
          return;
        }
    isFine &= graph && verify(graph->graph, diagnostics);
  });
  return isFine;
}

} // namespace strata::equations
