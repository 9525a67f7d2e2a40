// posix_spawn, or fork for a copy of this process; the end is waited for through the process's file (pidfd_open).
#include "base/process/process.h"

#include "base/process/unfinished.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace strata {

MemoryFile::MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0)
    close(descriptor_);
}

bool MemoryFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return lseek(descriptor_, 0, SEEK_SET) == 0;
}

std::string MemoryFile::read(int64_t most) const {
  struct stat status;
  if (fstat(descriptor_, &status) != 0)
    return {};
  std::string text(static_cast<size_t>(std::min<int64_t>(status.st_size, most)), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = pread(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    done += static_cast<size_t>(count);
  }
  text.resize(done);
  return text;
}

namespace {

constexpr int64_t mostErrors = int64_t{4} << 20;

std::string cannotStart(int error) {
  return std::string("cannot be started: ") + std::strerror(error);
}

/// Why a child is to be ended now; empty while it may go on.
std::string excess(const ProcessOptions& options, std::chrono::steady_clock::time_point begin) {
  struct stat output;
  if (options.mostOutput > 0 && fstat(options.output, &output) == 0 && output.st_size > options.mostOutput)
    return "wrote more than " + std::to_string(options.mostOutput >> 20) + " MiB";
  if (options.timeoutSeconds > 0 &&
      std::chrono::steady_clock::now() - begin >= std::chrono::seconds(options.timeoutSeconds))
    return "ran longer than " + std::to_string(options.timeoutSeconds) + " s";
  return {};
}

/// Waits for the end of the child, and brings it about where that is due.
void waitFor(pid_t child, const ProcessOptions& options, ProcessResult& result) {
  const auto begin = std::chrono::steady_clock::now();
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  const bool isWatched = options.timeoutSeconds > 0 || options.mostOutput > 0;
  while (isWatched) {
    constexpr int glance = 50, longest = 1000; // milliseconds between two looks at what it has written, and at the time
    pollfd event{handle, POLLIN, 0};
    siginfo_t ended{};
    if (handle >= 0
            ? poll(&event, 1, options.mostOutput > 0 ? glance : longest) > 0
            : waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0)
      break;
    if (handle < 0) // there is no file left for it
      poll(nullptr, 0, glance);
    result.problem = excess(options, begin);
    if (!result.problem.empty()) {
      kill(-child, SIGKILL);
      break;
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (handle >= 0)
    close(handle);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (WIFSIGNALED(status) && result.problem.empty())
    result.problem = "was ended by signal " + std::to_string(WTERMSIG(status));
}

} // namespace

ProcessResult runProcess(const std::vector<std::string>& command, const ProcessOptions& options) {
  ProcessResult result;
  const MemoryFile errors("errors");
  if (!errors) {
    result.problem = cannotStart(errno);
    return result;
  }
  std::vector<char*> arguments;
  for (const std::string& word : command)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (options.input >= 0)
    posix_spawn_file_actions_adddup2(&actions, options.input, STDIN_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (options.output >= 0)
    posix_spawn_file_actions_adddup2(&actions, options.output, STDOUT_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  // Held back here at that moment, and not in the child.
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  posix_spawnattr_setsigmask(&attributes, &mask);
  pid_t child = 0;
  int error = 0;
  Unfinished running;
  {
    const EndingSignalsHeld untilRegistered;
    error = posix_spawnp(&child, command.front().c_str(), &actions, &attributes, arguments.data(), environ);
    if (!error)
      running = Unfinished(child);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    result.problem = cannotStart(error);
  else
    waitFor(child, options, result);
  result.errors = errors.read(mostErrors);
  return result;
}

ProcessResult callInCopy(const std::function<int()>& function, const ProcessOptions& options) {
  ProcessResult result;
  const MemoryFile errors("errors");
  if (!errors) {
    result.problem = cannotStart(errno);
    return result;
  }
  fflush(nullptr); // what is buffered is written once
  const pid_t parent = getpid();
  Unfinished running;
  pid_t child = 0;
  {
    const EndingSignalsHeld untilRegistered;
    child = fork();
    if (child > 0)
      running = Unfinished(child);
    else if (child == 0)
      disownUnfinished();
  }
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = open("/dev/null", O_RDWR);
    const bool isReady = getppid() == parent && nothing >= 0 &&
                         dup2(options.input >= 0 ? options.input : nothing, STDIN_FILENO) >= 0 &&
                         dup2(options.output >= 0 ? options.output : nothing, STDOUT_FILENO) >= 0 &&
                         dup2(errors.descriptor(), STDERR_FILENO) >= 0;
    const int status = isReady ? function() : 127;
    fflush(nullptr);
    _exit(status);
  }
  if (child < 0) {
    result.problem = cannotStart(errno);
  } else {
    setpgid(child, child); // whoever of the two comes first
    waitFor(child, options, result);
  }
  result.errors = errors.read(mostErrors);
  return result;
}

} // namespace strata
