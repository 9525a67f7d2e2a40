// Figures of the hardware that the runtime decides by: those that the machine states on which an execution's run
// context is (StrataMachine::hardware; base/machine/figures.h says what they come from), and usual ones for what it
// does not state. None changes a result. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::runtime {

struct Hardware {
  int64_t taskBytes = 32 << 10;    // a copy of fewer costs less than starting a task for it
  int64_t tileElements = 16;       // a side of the tiles in which a move makes rows columns
  size_t largePageBytes = 2 << 20; // chunks of memory from here on begin at a multiple; a power of two
};

/// The figures for the calling execution.
Hardware hardware();

} // namespace strata::runtime
