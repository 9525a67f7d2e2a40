// From the dataflow graphs of a program to a logical program with where its parts go: what the link of a program and
// the commands on HPVM IR share.
#pragma once

#include "compiler/driver/compile/pipeline.h"
#include "compiler/hpvm/graph/graph.h"
#include "compiler/hpvm/lower/lower.h"

namespace strata::driver {

struct PlacedGraphs {
  LogicalProgram program;
  std::vector<hpvm::GraphEntry> entries;
};

/// On the compiler's machine, with the mapping file of its options. `records`: launches leave a trace. Nothing on
/// errors (reported).
std::optional<PlacedGraphs> placeGraphs(Compiler& compiler, const hpvm::Graphs& graphs, llvm::Module& module,
                                        mlir::MLIRContext& context, bool records, DiagnosticEngine& diagnostics);

} // namespace strata::driver
