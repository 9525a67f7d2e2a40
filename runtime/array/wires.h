// Connections of wrappers followed from end to end. A sink port has one source, so that what begins at one port is a
// tree; values need the layer's hop from each wrapper to the next. Pure functions; any thread.
#pragma once

#include "runtime/array/configuration.h"

#include <functional>

namespace strata::array {

/// Where a wire ends: at an input of an element, or, with another side, where it leaves the region at an output of the
/// wrapper.
struct WireEnd {
  uint32_t row = 0, column = 0;
  machine::Port sink;
  int64_t cycles = 0; // from the beginning of the wire
};

/// Calls `each` for every end of the wire from a source port. Where a wrapper passes on nothing, there is no end.
/// REQUIRES: the connections are sorted and connect a sink port once; the wire begins where no wrapper's output does.
void followWire(const std::vector<Connection>& connections, const Configuration& configuration, uint64_t hop,
                uint32_t row, uint32_t column, machine::Port source, const std::function<void(const WireEnd&)>& each);

/// The element at whose wrapper a port of the region's border is.
struct BorderElement {
  uint32_t row = 0, column = 0;
};
BorderElement borderElement(const Configuration& configuration, machine::Side side, uint32_t position);

} // namespace strata::array
