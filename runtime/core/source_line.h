// The line of the program's source that a machine instruction comes from, where the program has debug information. It
// is for the last words of a program that a fault ends: it takes its time, and starts a process (addr2line of
// binutils).
#pragma once

#include <string>
#include <vector>

namespace strata::runtime {

struct SourceLine {
  std::string file; // empty: not known
  unsigned line = 0;
  std::string within; // the function of another library where the fault is; empty where it is in the program itself
};

/// Of the first of these addresses that is in a function of the program's own: not in headers of ours, nor in the
/// library. The addresses are where a fault is, and where the functions around it go on.
SourceLine sourceLine(const std::vector<const void*>& addresses);

/// The addresses for it, within a signal handler: where the signal came from, and the callers as far as they can be
/// found.
std::vector<const void*> faultAddresses(const void* context);

} // namespace strata::runtime
