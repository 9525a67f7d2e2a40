// Turns the fault of a fibre or thread that ran out of stack, or that followed a null or a wild pointer, into a failure
// that says so. Signals of any other cause go on to whoever handled them before. Absent in sanitizer builds, whose own
// handlers tell more.
#pragma once

#include <cstddef>

namespace strata::runtime {

/// Prepares the calling thread; the first call also installs the handler for the process.
void guardStacks();

/// Sets the function that is called, instead of the failure "runtime-stack-overflow", on the fibre that has used up its
/// stack of `bytes` bytes; null: none. It runs in a signal handler and ends the program, or returns and leaves that to
/// the failure.
void setOverflowHandler(void (*handler)(size_t bytes));

/// Sets the function that is called where the program reads or writes in the first page of addresses; null: none. It
/// runs in a signal handler, is given the handler's ucontext_t, and ends the program, or returns and leaves the signal
/// to others.
void setNullHandler(void (*handler)(size_t address, const void* context));

/// The same for any other address at which the process has no memory, or none that may be written, as that of a string
/// constant; unless the program handles the signal itself.
void setWildHandler(void (*handler)(bool isReadOnly, const void* context));

} // namespace strata::runtime
