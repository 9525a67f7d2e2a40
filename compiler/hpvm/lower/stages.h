// How a graph is cut into stages of a pipeline. Thread safe.
#pragma once

#include "compiler/hpvm/graph/graph.h"

#include <vector>

namespace strata::hpvm {

/// The stages of an internal node, in order, each with its children in order. A child is a stage of its own, but for
/// those that one-to-one edges join, and all between them.
std::vector<std::vector<unsigned>> stagesOf(const InternalNode& node);

/// The node's inputs that children need: for their own inputs, and for their extents, with those of the nodes that
/// one-to-one edges join them with. In order, each once.
std::vector<unsigned> ownInputsOf(const InternalNode& node, const std::vector<unsigned>& children);

} // namespace strata::hpvm
