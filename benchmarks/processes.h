// Commands run as processes: their status, time and memory. One at a time, from one thread.
#pragma once

#include <string>
#include <vector>

namespace strata::bench {

/// A command with its arguments.
using Words = std::vector<std::string>;

/// Runs a command with its output dropped, or handed to the file `output`. Its exit status; -1 when it could not be run
/// or ended by a signal.
int execute(const Words& words, int output = -1);

/// From the start to the end of a command.
double seconds(const Words& words);

/// The most memory that a command had resident, in MiB; negative when it failed.
double peakMemory(const Words& words);

} // namespace strata::bench
