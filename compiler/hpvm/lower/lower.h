// Dataflow graphs as logical programs of the dialect: each graph is an entry point, each leaf at each of its places a
// kernel, the instances of a node a parallel loop. Beside the program stands where its parts go on a machine.
#pragma once

#include "base/machine/machine.h"
#include "base/source/diagnostic.h"
#include "compiler/hpvm/graph/graph.h"
#include "compiler/mapping/record.h"
#include "compiler/notation/node_mapping.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace strata::hpvm {

/// The entry points of a graph. The arguments of `name` are those of the root, then a block of one element for each
/// output but those that are passed on (a pointer's has 64 bits), then the launch (64 bits).
struct GraphEntry {
  std::string name;
  bool isLaunched = false; // whether there is `name`, which executes the graph once
  /// Does the same where two of the arrays overlap that the graph is given, one of which it writes. Empty: `name` does.
  std::string overlapping;
  std::vector<unsigned> elementBytes; // of each argument of `name` that is a block, for its extent; else 0
  std::string stream;              // executes it for every item; its only argument is the launch. Empty: there is none
  std::vector<std::string> stages; // what the iterations of its loop are, which run at once
  const InternalNode* root = nullptr;
  std::vector<std::optional<unsigned>> passedOn; // of each output: the argument that it is
  std::vector<bool> isWritten;                   // of each argument: whether the root, or a node in it, writes there
};

struct LoweredGraphs {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<GraphEntry> entries; // one a root, in order
  mapping::Record record;          // for the machine
};

/// Adds functions to the LLVM module on the way. `records`: a trace of a launch has a span for each node. Nothing on
/// errors (reported).
std::optional<LoweredGraphs> lower(const Graphs& graphs, llvm::Module& module, mlir::MLIRContext& context,
                                   const Machine& machine, const notation::NodeMapping& nodes, bool records,
                                   DiagnosticEngine& diagnostics);

} // namespace strata::hpvm
