// The target segment as a machine of base/machine, for placing, simulating and drawing programs. Pure function; safe
// from any thread.
#pragma once

#include "base/machine/machine.h"
#include "compiler/hbir/program/program.h"

#include <string>

namespace strata::hbir {

/// The machine has the target's tiles as one class of processors with their local memories, its global memories, a host
/// that is the tiles' master with main memory of its own, and one network that joins them all; costs are not stated, as
/// the language states none. The tree goes from the first local memory over the first global one to the host's. Names
/// are the program's, but for a name that two things would have: then the local memory is "t.l" and others get '_'.
/// Places are those of the program, so that validate() (which allows fewer instances than the language) names them.
Machine toMachine(const Program& program, const std::string& name = "target");

} // namespace strata::hbir
