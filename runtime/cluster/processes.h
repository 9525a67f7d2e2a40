// What the system tells of other processes in /proc. All of it may be out of date when it is returned; of a process
// that is gone it is empty. Any thread.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace strata::cluster {

/// The processes that a process has started, and has not waited for.
std::vector<pid_t> childrenOf(pid_t process);
/// Whether it runs: it has not ended, nor does it only wait for its parent to ask how.
bool isAlive(pid_t process);
/// The file that it runs, without folders, at most 15 bytes.
std::string processName(pid_t process);
/// The value of a name in the environment that it was started with.
std::string environmentOf(pid_t process, const char* name);
/// Whether its first thread waits for another one, or a lock.
bool waitsForLock(pid_t process);
/// What wait() gives for one that has ended and that nobody has asked for yet; -1: it is not that.
int endOf(pid_t process);

} // namespace strata::cluster
