// An exact answer to which direction a group of equations that wait for each other can be computed along.
//
// Source: Karp, Miller and Winograd 1967, section 4; Darte and Vivien 1995 for shifts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace strata::equations {

/// Equation `to` waits for `from`: the distances between them as Polyhedra::hull() gives them.
struct Wait {
  uint32_t from = 0, to = 0;
  std::vector<std::vector<int64_t>> distances;
};

struct Direction {
  std::vector<int64_t> factors;       // by iterator
  std::map<uint32_t, int64_t> shifts; // by equation, 0 or more
};

/// Factors with the least sum, and shifts, such that no distance goes back along factors · I + shift and at least one
/// goes ahead; nothing if there are none. Where all distances are constants, no order then computes all values of the
/// group before they are used. REQUIRES: the waits are between these equations, and at least one. Throws
/// isl::exception.
std::optional<Direction> findDirection(const std::vector<uint32_t>& equations, const std::vector<Wait>& waits,
                                       size_t dimensions);

} // namespace strata::equations
