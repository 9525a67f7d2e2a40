// A list of entries that are never freed, only reused, so that a signal handler can walk it without a lock.
#include "base/process/unfinished.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace strata {

struct UnfinishedEntry {
  std::atomic<bool> used{false};
  pid_t child = 0; // 0: a path
  char path[PATH_MAX] = {};
  UnfinishedEntry* next = nullptr;
};

struct UnfinishedList {
  std::mutex lock; // of whoever adds
  std::atomic<UnfinishedEntry*> first{nullptr};

  static UnfinishedList& get() {
    static auto* list = new UnfinishedList;
    return *list;
  }

  UnfinishedEntry* add(pid_t child, const char* path) {
    std::lock_guard guard(lock);
    UnfinishedEntry* entry = first.load();
    while (entry && entry->used.load())
      entry = entry->next;
    const bool isNew = !entry;
    if (isNew)
      entry = new UnfinishedEntry;
    entry->child = child;
    strncpy(entry->path, path, PATH_MAX - 1);
    entry->used.store(true);
    if (isNew) {
      entry->next = first.load();
      first.store(entry);
    }
    return entry;
  }
};

namespace {

constexpr int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

void removePath(const char* path) {
  if (unlink(path) == 0 || (errno != EISDIR && errno != EPERM))
    return;
  // A folder: a program is the only way to walk it that a signal handler may go.
  const pid_t child = _Fork();
  if (child == 0) {
    execl("/bin/rm", "rm", "-rf", "--", path, static_cast<char*>(nullptr));
    _exit(127);
  }
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void onSignal(int signal) {
  discardUnfinished();
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  raise(signal); // ends the process when this returns
}

} // namespace

EndingSignalsHeld::EndingSignalsHeld() {
  sigset_t held;
  sigemptyset(&held);
  for (int signal : endings)
    sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

EndingSignalsHeld::~EndingSignalsHeld() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Unfinished::Unfinished(const std::string& path) : entry_(UnfinishedList::get().add(0, path.c_str())) {}
Unfinished::Unfinished(pid_t child) : entry_(UnfinishedList::get().add(child, "")) {}
Unfinished::Unfinished(Unfinished&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}

Unfinished& Unfinished::operator=(Unfinished&& other) noexcept {
  std::swap(entry_, other.entry_);
  return *this;
}

Unfinished::~Unfinished() {
  if (entry_)
    entry_->used.store(false);
}

void discardUnfinished() {
  UnfinishedEntry* const first = UnfinishedList::get().first.load();
  // Whoever writes ends before what it writes goes.
  for (UnfinishedEntry* entry = first; entry; entry = entry->next)
    if (entry->used.load() && entry->child)
      kill(-entry->child, SIGKILL);
  for (UnfinishedEntry* entry = first; entry; entry = entry->next)
    if (entry->used.load() && !entry->child)
      removePath(entry->path);
}

void disownUnfinished() {
  for (UnfinishedEntry* entry = UnfinishedList::get().first.load(); entry; entry = entry->next)
    entry->used.store(false);
}

void discardUnfinishedOnSignals() {
  UnfinishedList::get(); // made now, not by a handler
  for (int signal : endings) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN)
      continue;
    struct sigaction action = {};
    action.sa_handler = onSignal;
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

} // namespace strata
