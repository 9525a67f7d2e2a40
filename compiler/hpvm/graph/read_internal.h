// The inside of an internal node: its children, edges and binds, with the rules that hold among them.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/hpvm/graph/graph.h"

namespace strata::hpvm {

/// The function of the node that a call of __hpvm__createNodeND creates; null when the call does not name it.
llvm::Function* childOf(const llvm::CallBase& create);

/// Fills in a node whose head has been read. REQUIRES: its children are in `graphs`. False on errors (reported).
bool readInternal(llvm::Function& function, InternalNode& node, const Graphs& graphs, DiagnosticEngine& diagnostics);

} // namespace strata::hpvm
