// Whether a concrete configuration makes sense on an array: numbers in range, ports that exist and are connected once,
// programs that fit. What only a run shows, simulate.h finds.
#pragma once

#include "runtime/array/configuration.h"

#include <string>

namespace strata::array {

/// What is wrong, with its place ("class 0, unit alu1, slot 3: register rd9, the array has 8"); empty when nothing is.
std::string checkConfiguration(const machine::ProcessorArray& array, const Configuration& configuration);

/// The number of cycles that a signal needs from the controller to each element, row by row, over the control layer's
/// connections; -1 where it does not come.
std::vector<int64_t> signalWays(const machine::ProcessorArray& array, const Configuration& configuration,
                                uint32_t signal);

} // namespace strata::array
