// What this process has begun and not finished: files and folders with temporary names, and programs that it waits for.
// They go away when the process ends early, by an error of a run or by a signal. Any thread may call; what signals do
// is safe at any time.
#pragma once

#include <csignal>
#include <string>
#include <sys/types.h>

namespace strata {

/// Held back while it lives: the signals by which a user ends a process. For the moment between making something and
/// registering it.
class EndingSignalsHeld {
public:
  EndingSignalsHeld();
  ~EndingSignalsHeld();
  EndingSignalsHeld(const EndingSignalsHeld&) = delete;

private:
  sigset_t before_;
};

/// One registered thing; its destructor takes it off the list and leaves it as it is.
class Unfinished {
public:
  Unfinished() = default;
  /// A file, or a folder with all that is in it.
  explicit Unfinished(const std::string& path);
  /// A child process with a process group of its own.
  explicit Unfinished(pid_t child);
  Unfinished(Unfinished&& other) noexcept;
  Unfinished& operator=(Unfinished&& other) noexcept;
  ~Unfinished();

private:
  struct UnfinishedEntry* entry_ = nullptr;
  friend struct UnfinishedList;
};

/// Removes and ends all that is registered. For the end of a process that does not return; the calls in it are those
/// that a signal handler may make.
void discardUnfinished();

/// Forgets all that is registered, in a copy of the process that has registered it.
void disownUnfinished();

/// From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE do so before they end this process, unless they are ignored.
void discardUnfinishedOnSignals();

} // namespace strata
