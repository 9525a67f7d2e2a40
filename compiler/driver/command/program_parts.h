// A command line with several programs: strata run A … + B …, taken apart at each word that is a plus sign alone. Each
// part is parsed as strata run; what is for all may stand in any of them. Used by main alone, from one thread.
#pragma once

#include "compiler/driver/session/session.h"

#include <CLI/CLI.hpp>

namespace strata::driver {

/// Whether it is one.
bool hasParts(int argc, char** argv);

/// Parses and runs it. REQUIRES: `session` has what no option says; the words are those before --. Returns an exit
/// status.
int runParts(Session& session, int argc, char** argv);

} // namespace strata::driver
