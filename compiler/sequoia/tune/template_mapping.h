// A mapping that lists all that a mapping of a program says, with the values left to be filled in: what 'strata map
// --template' writes. It depends on the program, the entry point and the machine's levels only.
#pragma once

#include "base/machine/machine.h"
#include "compiler/sequoia/mapping/mapping.h"
#include "compiler/sequoia/resolve/resolve.h"
#include "compiler/sequoia/syntax/ast.h"

namespace strata::sequoia {

/// One instance of each variant that the entry can reach, each with all its tunables, arrays, loops and callsites.
/// Levels, tunables, and targets that are a choice are blank; remarks say what can be filled in. Nothing when the entry
/// is not clear (reported).
std::optional<Mapping> templateMapping(const Program& program, const Machine& machine, const AskedEntry& entry,
                                       DiagnosticEngine& diagnostics);

} // namespace strata::sequoia
