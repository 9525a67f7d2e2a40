// Implements strata_fail and the runtime's own failures. The handler is called once in the life of a process.
#include "runtime/core/failure.h"

#include "runtime/abi.h"
#include "runtime/core/print.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/system_memory.h"

#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace strata::runtime {
namespace {

std::atomic<StrataFailureHandler> failureHandler{nullptr};
std::atomic<pid_t> failingThread{0};

void print(const char* severity, const StrataCheck* check, const char* text) {
  std::string out;
  if (check->file && *check->file) {
    out += std::string(check->file) + ":";
    if (check->line)
      out += std::to_string(check->line) + ":" + (check->column ? std::to_string(check->column) + ":" : "");
    out += " ";
  }
  out += std::string(severity) + ": " + text + " [" + (check->code ? check->code : "runtime") + "]\n";
  if (check->help && *check->help)
    out += std::string("  help: ") + check->help + "\n";
  // Straight to the descriptor: a thread stopped in the middle of printing may hold the stream's lock.
  for (size_t done = 0; done < out.size();) {
    const ssize_t written = write(STDERR_FILENO, out.data() + done, out.size() - done);
    if (written <= 0)
      break;
    done += static_cast<size_t>(written);
  }
}

void printFailure(const StrataCheck* check, const int64_t*, int32_t, const char* text) {
  print("error", check, text);
}

/// Writes out what is buffered, unless a thread holds the stream's lock.
void flushOutput() {
  if (ftrylockfile(stdout) == 0) {
    std::fflush(stdout);
    funlockfile(stdout);
  }
}

} // namespace

void warn(const StrataCheck& check) {
  print("warning", &check, check.message);
}

void say(const StrataCheck& check) {
  print("error", &check, check.message);
}

std::string fillIn(const char* message, const int64_t* values, int32_t count) {
  std::string out;
  for (const char* at = message; *at; ++at) {
    int32_t index = 0;
    const char* end = at + 1;
    if (*at == '{') {
      while (std::isdigit(static_cast<unsigned char>(*end)) && index < count)
        index = index * 10 + (*end++ - '0');
      if (end != at + 1 && *end == '}' && index < count) {
        out += std::to_string(values[index]);
        at = end;
        continue;
      }
    }
    out += *at;
  }
  return out;
}

void fail(const char* code, const std::string& message, const std::string& help) {
  const StrataCheck check{code, message.c_str(), help.empty() ? nullptr : help.c_str(), nullptr, 0, 0};
  strata_fail(&check, nullptr, 0);
}

void failOutOfMemory(const std::string& what, int64_t bytes) {
  fail("runtime-out-of-memory",
       "no memory for " + what + ", which takes " + std::to_string(bytes) + " bytes; " +
           std::to_string(systemMemory().available()) + " are available",
       "make the problem or its blocks smaller, or run on a computer with more memory");
}

} // namespace strata::runtime

using namespace strata::runtime;

void strata_set_failure_handler(StrataFailureHandler handler) {
  failureHandler.store(handler);
}

void strata_fail(const StrataCheck* check, const int64_t* values, int32_t count) {
  const pid_t self = gettid();
  pid_t nobody = 0;
  if (!failingThread.compare_exchange_strong(nobody, self)) {
    if (nobody == self)
      _exit(1); // the handler itself failed
    while (true)
      ::pause();
  }
  // What the program has printed may tell why.
  if (Execution* me = currentIfAny(); me && me->runContext->output().isOpen())
    me->runContext->output().writeIfIdle();
  const std::string text = fillIn(check->message, values, count);
  if (StrataFailureHandler handler = failureHandler.load())
    handler(check, values, count, text.c_str());
  else
    printFailure(check, values, count, text.c_str());
  flushOutput();
  _exit(1);
}
