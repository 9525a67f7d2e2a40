// The rules of the tree of levels. Private to validate().
#pragma once

#include "base/machine/machine.h"

namespace strata::machine {

/// Reports every rule that the tree breaks. REQUIRES: no id in the machine dangles.
void validateLevels(const Machine& machine, DiagnosticEngine& diagnostics);

} // namespace strata::machine
