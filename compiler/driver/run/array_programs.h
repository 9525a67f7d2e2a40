// strata run of several loop programs at once, on regions of one processor array that have no element in common. What
// runs them is what the C interface has (runtime/array/device.h); each has a corner's controller, and all start in one
// cycle.
#pragma once

#include "compiler/driver/session/session.h"

namespace strata::driver {

/// One of several programs that strata run is given: its options, with those for all, and its words.
struct ProgramPart {
  Options options;
  std::unique_ptr<CommandLine> words;
};

/// REQUIRES: `session` has the options for all. Returns an exit status.
int runPrograms(Session& session, std::vector<ProgramPart> parts);

} // namespace strata::driver
