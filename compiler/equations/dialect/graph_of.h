// Kernels of equations in the dialect as graphs, and back: what the loop language lowers to, and what targets and the
// interpreter read. An equation's region of several operations becomes several nodes.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/equations/graph.h"
#include "compiler/ir/svm.h"

#include <optional>
#include <vector>

namespace strata::equations {

/// A graph, and the kernel's arguments that its parts stand for.
struct KernelGraph {
  Graph graph;
  std::vector<unsigned> inputs, outputs, parameters; // argument numbers
  std::vector<mlir::Operation*> origins;             // of each node, the operation that it was made of
};

/// Nothing for operations or sets that equations cannot hold (reported). REQUIRES: the operation verifies.
std::optional<KernelGraph> graphOf(svm::EquationsOp equations, DiagnosticEngine& diagnostics);

/// Builds the operation at the builder's place. `inputs`, `outputs` and `parameters` are values for those of the graph;
/// a scalar input's is the scalar.
svm::EquationsOp build(mlir::OpBuilder& builder, const Graph& graph, mlir::ValueRange inputs, mlir::ValueRange outputs,
                       mlir::ValueRange parameters, const SourceManager& sources);

} // namespace strata::equations
