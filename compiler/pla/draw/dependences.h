// The reduced dependence graph of a loop program as a drawing: a box for each variable with its equations, an arrow for
// each use with its distance, or where that is no constant with the instance that is used; inputs above and outputs
// below. Pure; any thread.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 4 and figure 3.
#pragma once

#include "compiler/equations/system.h"

#include <string>

namespace strata::pla {

/// An SVG document. REQUIRES: no reductions.
std::string drawDependences(const equations::System& system);

} // namespace strata::pla
