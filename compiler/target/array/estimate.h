// How long a symbolic configuration takes, as a guess by which mappings of one program are compared: the cycles of an
// instance with sizes that nobody gave. Used by one thread.
#pragma once

#include "base/machine/machine.h"
#include "runtime/array/symbolic.h"
#include "runtime/array/transfers.h"

#include <cstdint>
#include <optional>

namespace strata::array {

struct Estimate {
  int64_t cycles = 0;             // with those in which the array waits for its buffers to be filled and emptied
  uint32_t rows = 1, columns = 1; // of the region
};

/// With every parameter `size`. Nothing where the program has no such instance. REQUIRES: validate(symbolic, array) is
/// empty.
std::optional<Estimate> estimate(const Symbolic& symbolic, const machine::ProcessorArray& array, const HostLink& link,
                                 int64_t size);

} // namespace strata::array
