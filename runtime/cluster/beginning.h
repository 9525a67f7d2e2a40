// How processes that MPI starts together find out that they belong together: what each of them runs is compared before
// anything else goes between them, and while MPI begins, which waits for ever for one that has ended, they are watched.
#pragma once

#include "runtime/core/periodically.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

namespace strata::cluster {

/// Of the code of the program that runs here: two that differ in it hardly ever have the same.
uint64_t codeFingerprint();
/// Of the words of a command.
uint64_t fingerprintOf(const std::vector<std::string>& words);

/// Makes this process one of several: it ends when its starter does, and its faults are its own to tell. Before MPI
/// begins.
void becomeOneOfSeveral();

/// How many threads this process takes where nobody says it: as many as it has cores, or its part of them where those
/// that were started with it on this computer have the same ones. At least 1.
uint32_t threadsOfProcess();
/// Whether the processes that were started with this one on this computer leave a core to each of them.
bool hasCoreOfItsOwn();
/// The part of `cores` cores that a process may run on, of a computer's, where it has so many processes.
uint32_t shareOfCores(uint32_t cores, uint32_t ofComputer, uint32_t processes);

/// Tells the strata that has had this process started, if one has, that this one has said why the run fails.
inline constexpr const char* toldName = "STRATA_TOLD"; // in the environment: a file
void tellStarter();

/// Watches the processes of this computer that were started together with this one, for as long as it lives.
class BeginningWatch {
public:
  /// `ended` is called, in one of the processes that are left, where another has ended; it tells so. This process ends
  /// after that. On a thread of the watch's own. Where a strata has had them started, that tells it (starter.h).
  explicit BeginningWatch(std::function<void()> ended);

private:
  void look();

  using Clock = std::chrono::steady_clock;
  const std::function<void()> ended_;
  const pid_t starter_;
  const size_t count_;           // of those on this computer
  std::set<pid_t> seen_, alive_; // all, and those that were there last
  Clock::time_point changed_ = Clock::now();
  std::optional<runtime::Periodically> looking_; // the last: it ends before the rest does
};

} // namespace strata::cluster
