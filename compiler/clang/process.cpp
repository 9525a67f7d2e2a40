// posix_spawn with a file in memory as the child's standard error, so that neither side can block on a pipe.
#include "compiler/clang/process.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace strata::clang {

TemporaryFolder::TemporaryFolder() {
  const char* parent = std::getenv("TMPDIR");
  std::string pattern = std::string(parent && *parent ? parent : "/tmp") + "/strata-XXXXXX";
  const EndingSignalsHeld untilRegistered;
  if (mkdtemp(pattern.data())) {
    folder_ = pattern;
    unfinished_ = Unfinished(folder_);
  } else {
    problem_ = "cannot make a folder '" + pattern + "': " + std::strerror(errno);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored; // what cannot be removed stays for the system to clean
  if (!folder_.empty())
    std::filesystem::remove_all(folder_, ignored);
}

bool TemporaryFolder::write(std::string_view name, std::string_view text) const {
  std::ofstream file(path(name), std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return bool(file);
}

std::optional<std::string> TemporaryFolder::read(std::string_view name) const {
  std::ifstream file(path(name), std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return std::nullopt;
  return std::move(text).str();
}

namespace {

constexpr off_t mostErrors = off_t(4) << 20;

std::string readAll(int file) {
  struct stat status;
  if (fstat(file, &status) != 0)
    return {};
  std::string text(static_cast<size_t>(std::min(status.st_size, mostErrors)), '\0');
  size_t done = 0;
  while (done < text.size()) {
    ssize_t count = pread(file, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (count <= 0)
      break;
    done += static_cast<size_t>(count);
  }
  text.resize(done);
  return text;
}

/// Waits for the end of the child, and brings it about when it takes too long.
void waitFor(pid_t child, int timeoutSeconds, ProcessResult& result) {
  int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd event{handle, POLLIN, 0};
  int ready = 1;
  if (handle >= 0)
    while ((ready = poll(&event, 1, timeoutSeconds * 1000)) < 0 && errno == EINTR) {
    }
  if (ready == 0) {
    result.problem = "ran longer than " + std::to_string(timeoutSeconds) + " s";
    kill(-child, SIGKILL); // it has a process group of its own
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

ProcessResult runProcess(const std::vector<std::string>& command, int timeoutSeconds) {
  ProcessResult result;
  int errors = memfd_create("errors", MFD_CLOEXEC);
  if (errors < 0) {
    result.problem = std::string("cannot be started: ") + std::strerror(errno);
    return result;
  }
  std::vector<char*> arguments;
  for (const std::string& word : command)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
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
    result.problem = std::string("cannot be started: ") + std::strerror(error);
  else
    waitFor(child, timeoutSeconds, result);
  result.errors = readAll(errors);
  close(errors);
  return result;
}

} // namespace strata::clang
