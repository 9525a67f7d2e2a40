// Has MPI's starter, mpirun, start processes, and sees to it that a run ends: with its processes, with what they leave
// to the system, and with a message where one of them was ended by somebody else.
//
// Three processes do so: the command waits for a watcher, which waits for the starter. Whichever of them is ended, the
// next one notices, and ends what is below. What loses its parent comes to the nearest of them that is left.
#pragma once

#include <string>
#include <vector>

namespace strata::driver {

/// How a run ended.
struct StarterEnd {
  /// As the starter tells it, or -1: see `problem`.
  int status = -1;
  /// What ended the run, for a message.
  std::string problem;
  /// The starter could not be started.
  bool isMissing = false;
};

/// Runs the words of a starter. `doTell`: its processes are strata, which tells why it fails (cluster::tellStarter).
/// Signals that end a process go on to it, and end this process when it has ended.
StarterEnd runWatched(const std::vector<std::string>& words, bool doTell);

} // namespace strata::driver
