// Files with symbolic configurations (.sym), which strata map writes for processor arrays: they run like programs, and
// strata instantiate shows what they become. Nothing is mapped any more, and neither equations nor solvers are needed.
#pragma once

#include "compiler/driver/session/session.h"
#include "runtime/array/symbolic.h"

#include "llvm/ADT/StringRef.h"

namespace strata::driver {

/// The configuration of the program's file. Nothing on errors (reported).
std::optional<array::Symbolic> readSymbolic(Session& session);

/// strata run FILE.sym. Returns an exit status.
int runSymbolic(Session& session);

/// strata instantiate: prints the concrete configuration that a symbolic one becomes for sizes and a region.
int instantiateCommand(Session& session);

} // namespace strata::driver
