// What the command says when it cannot go on: no memory for itself, no code generator for what it was given.
#pragma once

namespace strata::driver {

/// Turns the ends of the process that the standard library and LLVM make into an error and an exit status. Call it
/// first.
void installLastResort();

} // namespace strata::driver
