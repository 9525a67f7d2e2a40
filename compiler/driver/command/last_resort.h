// What the command says when it cannot go on: no memory for itself, no code generator for what it was given.
#pragma once

namespace strata::driver {

/// Turns the ends of the process that the standard library and LLVM make into an error and an exit status. Call it
/// first.
void installLastResort();

/// The process ends with this status, all that it had to say being said: what another thread finds out from here on
/// ends it in the same way, and an error that one is telling already comes first.
void endWith(int status);

} // namespace strata::driver
