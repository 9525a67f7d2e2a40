// Are tiles and starts ones for a symbolic configuration? Computed once more, from sizes and bounds alone, and without
// what tiling.h and starts.h compute with. Plain functions; any thread.
#pragma once

#include "runtime/array/starts.h"

#include <string>

namespace strata::array {

/// What is wrong with tiles, for people; empty if nothing: each iteration is in one tile, no row or column of tiles is
/// empty, values that cross go to a neighbour. REQUIRES (both): the program has iterations for these sizes, and
/// makeTiling() gives no error.
std::string verify(const Symbolic& symbolic, const InstantiationOptions& options, const Tiling& tiling);

/// What is wrong with starts: every value has arrived when it is read, and the controller's signals when an element
/// starts. Whether others were sooner is not asked.
std::string verify(const Symbolic& symbolic, const machine::ProcessorArray& array, const Tiling& tiling,
                   machine::Corner corner, const Starts& starts);

} // namespace strata::array
