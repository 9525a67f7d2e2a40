// Reads the dataflow graphs of a program off its LLVM IR, and checks the rules of the HPVM language reference
// ("Intrinsics for Describing Graphs" and those behind it). Not thread safe.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/hpvm/graph/graph.h"

#include "llvm/IR/Module.h"

namespace strata::hpvm {

/// Brings node functions into the form that they are read in (in place), and reads all graphs that the module launches.
/// Nothing on errors (reported).
std::optional<Graphs> readGraphs(llvm::Module& module, DiagnosticEngine& diagnostics);

} // namespace strata::hpvm
