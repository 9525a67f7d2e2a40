// How long a symbolic configuration takes, as a guess by which mappings of one program are compared: the cycles of an
// instance with sizes that nobody gave. Used by one thread.
#pragma once

#include "base/machine/machine.h"
#include "runtime/array/symbolic.h"
#include "runtime/array/transfers.h"

#include <cstdint>
#include <optional>

namespace strata::array {

/// The cycles with every parameter `size`, those included in which the array waits for its buffers to be filled and
/// emptied. Nothing where the program has no such instance. REQUIRES: validate(symbolic, array) is empty.
std::optional<int64_t> estimatedCycles(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                       const HostLink& link, int64_t size);

} // namespace strata::array
