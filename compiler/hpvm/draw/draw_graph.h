// A dataflow graph as a drawing: an internal node is a frame around its children, with its inputs at the top and its
// outputs at the bottom. Pure; any thread.
#pragma once

#include "compiler/hpvm/graph/graph.h"

#include <string>

namespace strata::hpvm {

/// An SVG document.
std::string drawGraph(const Graphs& graphs, const Root& root);

/// An extent as C would write it: "bytes / 4". What is not followed is "…".
std::string expressionText(const llvm::Value& value);

} // namespace strata::hpvm
