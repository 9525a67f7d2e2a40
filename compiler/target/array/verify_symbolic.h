// Is a symbolic configuration one that works, for all sizes, regions and tiles that it may be instantiated with? Units,
// registers, FIFOs, channels, times and accesses are computed once more from the configuration alone, with sets of isl
// that are made here, and without anything that mapping made it with. Used by one thread.
//
// What it does not see: whether the operations are those of the loop program, and whether general registers hold the
// values that their readers mean. A value has to come, in time, before the next one, and from one writer.
#pragma once

#include "base/machine/machine.h"
#include "runtime/array/symbolic.h"

#include <string>

namespace strata::array {

struct Verdict {
  std::string broken;    // what is wrong, for people; empty if nothing is
  bool isDecided = true; // false where sets took more steps than are allowed; then `broken` is empty
};

/// Validates first (symbolic.h). Stricter than a machine is in what no schedule needs: instructions that share a unit
/// or a register in the same cycles of different iterations are refused, though their iterations may never meet.
Verdict verify(const Symbolic& symbolic, const machine::ProcessorArray& array);

} // namespace strata::array
