// What surrounds the programs: switches of wrappers, banks at the borders, address generators. In proportion to the
// elements of the region, since each has switches of its own.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", sections 5.4, 5.7 and 6.4.
#pragma once

#include "base/machine/quantity.h"
#include "runtime/array/tiling.h"

namespace strata::array {

/// Adds the ways of the configuration's signals from the corner to every element. An error where the control layer has
/// too few ports.
std::optional<InstantiationError> connectControl(const machine::ProcessorArray& array, Configuration& configuration);

/// Adds the channels' connections, the ways of accesses and the banks. Raises the configuration's first start where
/// words would have to pass a border before cycle 0. An error where banks, ports, capacity or dimensions do not
/// suffice, or an index is outside of its array. REQUIRES: the tiling is not empty.
std::optional<InstantiationError> connectData(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                              const Tiling& tiling, Configuration& configuration);

/// The side that faces this one at the neighbour. REQUIRES (here and below): not Side::Element.
constexpr machine::Side opposite(machine::Side side) {
  return static_cast<machine::Side>((static_cast<unsigned>(side) + 2) % 4);
}

inline std::string sideName(machine::Side side) {
  return machine::sideNames()[static_cast<unsigned>(side)];
}

/// An element of the region, or beyond it.
struct Place {
  int64_t row = 0, column = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
  Place next(machine::Side side) const {
    return {row + (side == machine::Side::South ? 1 : 0) - (side == machine::Side::North ? 1 : 0),
            column + (side == machine::Side::East ? 1 : 0) - (side == machine::Side::West ? 1 : 0)};
  }
};

/// Where a way meets a border of the region, and how many wrappers it passes from there to the element or back, less
/// one.
struct BorderPort {
  machine::Side side = machine::Side::North;
  uint32_t position = 0, index = 0; // of the border element: its column (north, south) or row; of the port
  int64_t hops = 0;
  friend auto operator<=>(const BorderPort&, const BorderPort&) = default;
};

constexpr uint32_t positionAt(machine::Side side, Place place) {
  const bool isColumn = side == machine::Side::North || side == machine::Side::South;
  return static_cast<uint32_t>(isColumn ? place.column : place.row);
}

} // namespace strata::array
