// What MPI's starters leave in the environment of the processes that they start together. Any thread.
#pragma once

#include <cstdlib>

namespace strata::cluster {

/// How many processes MPI has started together with this one; 0: none, it was not started so.
inline unsigned startedTogether() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* count = std::getenv(name))
      return static_cast<unsigned>(std::strtoul(count, nullptr, 10));
  return 0;
}

/// Whether they were started by several commands, of one line.
inline bool areCommandsSeveral() {
  const char* count = std::getenv("OMPI_NUM_APP_CTX");
  return count && std::strtoul(count, nullptr, 10) > 1;
}

/// Whether this is the first of those processes.
inline bool isFirstStarted() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* rank = std::getenv(name))
      return std::strtoul(rank, nullptr, 10) == 0;
  return true;
}

} // namespace strata::cluster
