// A machine's tables for the runtime (machine_table.h) as C text, for objects that hold them. Thread safe.
#pragma once

#include "runtime/abi.h"

#include <string>

namespace strata::target {

/// Defines `strata_this_machine`, a static constant StrataMachine. The text needs strata_abi.h before it.
std::string machineText(const StrataMachine& machine);

} // namespace strata::target
