// strata tune: the best mapping of a program for its sizes and a machine, found by trying. The default mapping, or
// the one given, is where the search begins; each mapping that is tried runs in a process of its own, or is estimated
// there where the machine is another one, and one that gives other results is not taken. What is found is written as a
// mapping file and remembered for strata run.
#pragma once

#include "compiler/driver/session/session.h"

namespace strata::driver {

/// Returns an exit status. REQUIRES: nothing has been compiled in this process, and it has one thread.
int tuneCommand(Session& session);

} // namespace strata::driver
