// Handlers that run where nothing can be relied on any more: they write to the descriptor and leave without unwinding.
// Errors here have the form of diagnostics, but no engine renders them.
#include "compiler/driver/command/last_resort.h"

#include "compiler/driver/session/session.h"

#include "llvm/Support/ErrorHandling.h"

#include <atomic>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace strata::driver {
namespace {

/// The status that the process ends with, or one of these.
constexpr int isRunning = -1, isTelling = -2;
std::atomic<int> ending = isRunning;

/// Of several threads that find out at once, the first tells it and ends the process. Where the process ends as it
/// should, what a thread of it lacks from then on is of no importance.
[[noreturn]] void leave(int status, std::string_view code, std::string_view message, std::string_view reason,
                        std::string_view help) {
  int before = isRunning;
  if (!ending.compare_exchange_strong(before, isTelling)) {
    while (before == isTelling)
      pause();
    _exit(before);
  }
  for (std::string_view part : {std::string_view("error["), code, std::string_view("]: "), message, reason,
                                std::string_view("\n  = help: "), help, std::string_view("\n")})
    if (write(STDERR_FILENO, part.data(), part.size()) < 0)
      break;
  _exit(status);
}

[[noreturn]] void leaveOutOfMemory() {
  leave(statusUserError, "driver-out-of-memory", "there is not enough memory to compile and start the program", "",
        "lift the limit of memory (ulimit -v), or run on a computer with more");
}

/// The libraries that the command is linked with allocate while they are loaded, before any handler of ours, and end
/// the process where they cannot. Under a limit of memory that leaves less than this beside them, the command says so
/// first.
constexpr size_t roomToStart = size_t(16) << 20;

/// Runs before the libraries' own initialisation, and uses nothing of them.
__attribute__((no_sanitize("address", "thread"))) void checkRoom(int, char**, char**) {
  void* room = mmap(nullptr, roomToStart, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    leaveOutOfMemory();
  munmap(room, roomToStart);
}

__attribute__((section(".preinit_array"), used)) void (*const beforeLibraries)(int, char**, char**) = checkRoom;

[[noreturn]] void leaveInternal(std::string_view reason) {
  leave(statusOurError, "driver-internal",
        reason.empty() ? "this is an error of Strata" : "this is an error of Strata: ", reason,
        "report it with the program and the command");
}

void onTerminate() {
  if (std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      leaveOutOfMemory();
    } catch (const std::system_error& error) {
      leave(statusUserError, "driver-system", "the system refuses what the program needs: ", error.what(),
            "lift the limits of processes and memory (ulimit -u, ulimit -v)");
    } catch (const std::exception& error) {
      leaveInternal(error.what());
    } catch (...) {
      leaveInternal("");
    }
  }
  leaveInternal("");
}

} // namespace

void endWith(int status) {
  fflush(nullptr);
  int before = isRunning;
  if (!ending.compare_exchange_strong(before, status))
    while (before == isTelling)
      pause();
}

void installLastResort() {
  std::set_terminate(onTerminate);
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { leaveOutOfMemory(); });
  llvm::install_fatal_error_handler([](void*, const char* reason, bool) {
    leave(statusOurError, "driver-internal", "code generation gave up: ", reason,
          "report it with the program and the command");
  });
}

} // namespace strata::driver
