// The subcommands of strata, each from options to exit status; those that run a program are in compiler/driver/run.
#pragma once

#include "compiler/driver/session/session.h"

#include <string>
#include <vector>

namespace strata::driver {

int checkCommand(Session& session);
int buildCommand(Session& session);
/// strata run of a program with a main: builds it and becomes it. Returns only when that fails.
int runMainCommand(Session& session);
int mapCommand(Session& session);
int machineCommand(Session& session);
int showCommand(Session& session);
/// strata cc and strata c++ with what stands behind them: becomes Clang. Returns only when it does not.
int ccCommand(Session& session, const std::vector<std::string>& arguments, bool isCxx);

/// strata-ld: the linker that strata cc has Clang start. Compiles the graphs of what is linked, and becomes, or starts,
/// the linker that Clang would have started, with the code of the graphs among its files.
int linkCommand(Session& session, const std::vector<std::string>& arguments);

/// Whether a name is that of a program's file rather than of a machine.
bool isProgram(llvm::StringRef name);

} // namespace strata::driver
