// What is asked of the channels of a symbolic configuration; a part of validate() (symbolic.h).
#pragma once

#include "runtime/array/symbolic.h"

namespace strata::array {

/// What is wrong with the paths of channels, one by one and together, for people; empty when nothing is.
std::string checkRoutes(const std::vector<Channel>& channels, const machine::ProcessorArray& array);

} // namespace strata::array
