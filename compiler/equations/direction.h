// An exact answer to which direction a group of equations that wait for each other can be computed along.
//
// Source: Karp, Miller and Winograd 1967, section 4; Darte and Vivien 1995 for shifts.
#pragma once

#include "compiler/equations/order.h"

#include <map>
#include <optional>
#include <vector>

namespace strata::equations {

struct Direction {
  std::vector<int64_t> factors;       // by iterator
  std::map<uint32_t, int64_t> shifts; // by node, 0 or more
};

/// Factors with the least sum, and shifts, such that no dependence goes back along factors · I + shift and at least one
/// goes ahead; nothing if there are none: then no order computes all values of the group before they are used.
/// REQUIRES: the dependences are between these nodes, and at least one. Throws isl::exception.
std::optional<Direction> findDirection(const std::vector<uint32_t>& nodes, const std::vector<Dependence>& dependences,
                                       size_t dimensions);

} // namespace strata::equations
