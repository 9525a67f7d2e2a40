// When elements start, and how many values wait in FIFOs between them.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 5.2: the part of the schedule's
// vector for tiles, which is known only when the sizes are.
#pragma once

#include "runtime/array/tiling.h"

namespace strata::array {

/// Element (r, c) starts at first + r · row + c · column.
struct Starts {
  int64_t first = 0, row = 0, column = 0;
};

/// The starts that let the last element start soonest: values have arrived when they are read, and no element starts
/// before the controller's signals reach it. An error where dependences wait for each other in a circle.
std::variant<Starts, InstantiationError> makeStarts(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                                    const Tiling& tiling, machine::Corner corner);

/// Sets the configuration's depths; an error where a FIFO of the array holds fewer values.
std::optional<InstantiationError> setDepths(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                            const Tiling& tiling, const Starts& starts, Configuration& configuration);

} // namespace strata::array
