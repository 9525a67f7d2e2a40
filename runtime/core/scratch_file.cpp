// Implements scratch files (see the header).
#include "runtime/core/scratch_file.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <unistd.h>

namespace strata::runtime {
namespace {

struct Folder {
  std::mutex lock;
  std::string chosen;
};
Folder& folder() {
  static auto* instance = new Folder;
  return *instance;
}

int openNameless(const std::string& where) {
  const int file = open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
    return file;
  // A file system without nameless files.
  std::string name = where + "/strata-scratch-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0)
    unlink(name.c_str());
  return named;
}

} // namespace

std::string scratchFolder() {
  Folder& shared = folder();
  std::lock_guard guard(shared.lock);
  if (!shared.chosen.empty())
    return shared.chosen;
  const char* system = std::getenv("TMPDIR");
  return system && *system ? system : "/tmp";
}

void setScratchFolder(const std::string& chosen) {
  Folder& shared = folder();
  std::lock_guard guard(shared.lock);
  shared.chosen = chosen;
}

int reserveFileSpace(int file, int64_t bytes) {
  if (bytes <= 0)
    return 0;
  sigset_t limit, before;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  int error = 0;
  do
    error = posix_fallocate(file, 0, bytes);
  while (error == EINTR);
  const timespec now = {0, 0};
  if (!sigismember(&before, SIGXFSZ))
    while (sigtimedwait(&limit, nullptr, &now) > 0)
      ;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

ScratchFile makeScratchFile(int64_t bytes) {
  const int file = openNameless(scratchFolder());
  if (file < 0)
    return {-1, errno};
  const int error = reserveFileSpace(file, bytes);
  if (error == 0)
    return {file, 0};
  close(file);
  return {-1, error};
}

} // namespace strata::runtime
