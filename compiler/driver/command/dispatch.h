// From a command line to the command that it names: what strata's main does, for programs that start it more than once.
#pragma once

namespace strata::driver {

/// Reads the options in `argv` and runs the command; gives the status to exit with (0, 1 for an error of the user's,
/// which is on standard error). Sets signal handlers and global options: once in a process, before it has other
/// threads.
int dispatch(int argc, char** argv);

} // namespace strata::driver
