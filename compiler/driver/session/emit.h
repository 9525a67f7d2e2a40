// Stages of a compilation as text: --emit, which every command that compiles takes.
#pragma once

#include "compiler/driver/session/session.h"

namespace strata::driver {

/// Carries out --emit=STAGE. Returns an exit status.
int emitCommand(Session& session);

} // namespace strata::driver
