// A thread that looks at the clock four times a second, and writes when what is told about has lasted two seconds.
#include "runtime/core/progress.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace strata::runtime {
namespace {

using Clock = std::chrono::steady_clock;

class Line {
public:
  static Line& get() {
    static auto* line = new Line; // its thread ends with the process
    return *line;
  }

  void tell(const std::string& what) {
    if (!isShown_)
      return;
    std::lock_guard guard(lock_);
    if (!begun_) {
      begun_ = true;
      begin_ = Clock::now();
      // Signals are for the threads that do the work.
      sigset_t all, before;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, &before);
      std::thread([this] { watch(); }).detach();
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    what_ = what;
    if (what.empty())
      erase();
  }

  bool isShown() const { return isShown_; }

  void clear() {
    if (!isShown_)
      return;
    std::lock_guard guard(lock_);
    erase();
  }

private:
  Line() { isShown_ = isCapableTerminal(); }

  void write(const std::string& text) {
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0)
      isWritten_ = false;
  }

  void erase() {
    if (isWritten_)
      write("\r\x1b[K");
    isWritten_ = false;
  }

  void watch() {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
      std::lock_guard guard(lock_);
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count();
      if (what_.empty() || seconds < 2)
        continue;
      isWritten_ = true;
      // Kept on one row of a narrow terminal: a longer line could not be rewritten.
      write("\r" + what_.substr(0, 60) + ", " + std::to_string(seconds) + " s\x1b[K");
    }
  }

  std::mutex lock_;
  std::string what_;
  Clock::time_point begin_;
  bool isShown_ = false, isWritten_ = false, begun_ = false;
};

} // namespace

bool isCapableTerminal() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) && terminal && *terminal && std::strcmp(terminal, "dumb") != 0;
}

void tellProgress(const std::string& what) {
  Line::get().tell(what);
}

bool showsProgress() {
  return Line::get().isShown();
}

void clearProgress() {
  Line::get().clear();
}

} // namespace strata::runtime
