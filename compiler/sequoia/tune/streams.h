// Tasks whose blocks are used as they stream by: no element is used again but with its neighbours, as in a stencil.
// Long rows are worth more to them than square blocks, which let a product use again what is near by.
#pragma once

#include "compiler/sequoia/resolve/resolve.h"

#include <set>
#include <string>

namespace strata::sequoia {

/// Whether each array of which a call of the variant takes a block is cut in every dimension, two at least, all by the
/// same tunables in the same order.
bool cutsAlike(const TaskVariant& variant);

/// Leaves, by the names of their instances, that only such variants call.
std::set<std::string> streamedLeaves(const InstanceGraph& graph);

} // namespace strata::sequoia
