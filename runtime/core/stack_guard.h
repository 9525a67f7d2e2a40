// Turns the fault of a fibre or thread that ran out of stack into a failure that says so. Signals of any other cause go
// on to whoever handled them before. Absent in sanitizer builds, whose own handlers tell more.
#pragma once

namespace strata::runtime {

/// Prepares the calling thread; the first call also installs the handler for the process.
void guardStacks();

} // namespace strata::runtime
