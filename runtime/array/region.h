// The region of an instance where nobody has chosen one: as many elements as there is work for, and fewer where that
// many do not suit. Pure functions; any number of threads may call them.
#pragma once

#include "runtime/array/instantiate.h"

#include <optional>

namespace strata::array {

/// Sets the options' rows and columns: an element for each tile, of which there are as many as the array has elements
/// along the loop and the schedule allows. Tile sizes that the options have are kept, and sizes have to be there.
std::optional<InstantiationError> chooseRegion(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                               InstantiationOptions& options);

/// The next region to be tried where this one did not suit: half as many rows or columns, of which there are more.
/// False for a single element.
bool halveRegion(InstantiationOptions& options);

} // namespace strata::array
