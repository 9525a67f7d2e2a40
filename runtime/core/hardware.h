// Figures of the hardware that the runtime decides by. It has usual ones; who knows the machine, as the command does
// that compiles for it, sets others (base/machine/figures.h says what they come from). None changes a result.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::runtime {

struct Hardware {
  int64_t taskBytes = 32 << 10;    // a copy of fewer costs less than starting a task for it
  int64_t tileElements = 16;       // a side of the tiles in which a move makes rows columns
  size_t largePageBytes = 2 << 20; // chunks of memory from here on begin at a multiple; a power of two
};

const Hardware& hardware();
/// REQUIRES: nothing runs; both counts are 1 at least.
void setHardware(const Hardware& figures);

} // namespace strata::runtime
