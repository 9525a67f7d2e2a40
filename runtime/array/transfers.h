// When the banks at an array's borders are filled from the host's memory and emptied into it, and for how long the
// array stands still for that. The simulator counts the cycles in which the array computes; this counts what comes on
// top. One link carries everything, a block of a bank at a time. Pure functions; any number of threads may call them.
//
// The model: of the blocks that may be transferred, the link takes the one that is needed first. A block of an input is
// needed in the cycle of its first access, and may be filled when the block before the previous one is done with; one
// of an output may be emptied after its last access, and has to be gone when the next block but one begins. An array
// whose block is not there stands still as a whole.
#pragma once

#include "runtime/array/configuration.h"

#include <optional>
#include <span>

namespace strata::array {

struct HostLink {
  int64_t latency = 0;          // cycles from the last byte's sending to its arrival
  machine::Bandwidth bandwidth; // not stated: no time
};

/// A block of a bank, in cycles of the array.
struct BlockUse {
  int64_t first = 0, last = 0; // accesses
  int64_t words = 0;
};

/// The blocks of a bank in the order in which they are used: one for each iteration of its `blockLoops` outermost loops
/// in which it is accessed. Nothing for more than mostBlocks.
std::optional<std::vector<BlockUse>> blockUses(const Configuration& configuration, const Bank& bank);
inline constexpr size_t mostBlocks = size_t{1} << 18;

/// Words of all blocks of a bank; those of `block` where there are more than mostBlocks.
int64_t transferredWords(const Configuration& configuration, const Bank& bank);

struct TransferTimes {
  int64_t blocks = 0;
  int64_t linkCycles = 0; // in which the link is busy
  // Cycles in which the array stands still: until its first blocks are there, and for later ones; and those from its
  // last cycle to the end of the last transfer. What else the link does overlaps with computing.
  int64_t filling = 0, waiting = 0, emptying = 0;
};

/// Of a run that takes `cycles` by itself. Nothing where there are more than mostBlocks blocks in all.
std::optional<TransferTimes> transferTimes(const Configuration& configuration, const HostLink& link, int64_t cycles);

} // namespace strata::array
