// Implements the errors of include/strata.h: one handler for the process, for wrong arguments and for what compiled
// code finds as it runs. Where several libraries of compiled programs are in a process, each has a runtime of its own
// inside, and the functions here that have C names are all the first one's. Any thread may call.
#include "include/strata.h"

#include "runtime/abi.h"
#include "runtime/core/failure.h"

#include <atomic>
#include <string>

/// To the handler, if there is one; returns whether. Not in the header: it is what runtimes share.
extern "C" int strataReportFailure(const char* code, const char* message);

namespace {

std::atomic<strataErrorHandler_t> errorHandler{nullptr};
thread_local bool fatal = false;

/// What the runtime's own failures do from the beginning on.
void forwardFailure(const StrataCheck* check, const int64_t*, int32_t, const char* text) {
  std::string message;
  if (check->file && *check->file)
    message = std::string(check->file) + ":" + std::to_string(check->line) + ": ";
  message += text;
  if (strataReportFailure(check->code ? check->code : "runtime", message.c_str()))
    return;
  StrataCheck filled = *check;
  filled.message = text;
  strata::runtime::say(filled);
}

[[maybe_unused]] const bool isForwarding = (strata_set_failure_handler(forwardFailure), true);

} // namespace

// Another library's runtime may stand in for these, so that calls of them are not taken for calls of this file's own.
[[gnu::noinline]] int strataReportFailure(const char* code, const char* message) {
  strataErrorHandler_t handler = errorHandler.load();
  if (!handler)
    return 0;
  fatal = true; // for good: the process ends
  handler(code, message);
  return 1;
}

strataErrorHandler_t strataSetErrorHandler(strataErrorHandler_t handler) {
  if (handler)
    strata_set_failure_handler(forwardFailure);
  return errorHandler.exchange(handler);
}

int strataIsFatal(void) {
  return fatal;
}

void strataRaiseError(const char* code, const char* message) {
  if (strataErrorHandler_t handler = errorHandler.load()) {
    handler(code, message);
    return;
  }
  const StrataCheck check{code, message, nullptr, nullptr, 0, 0};
  strata_fail(&check, nullptr, 0);
}
