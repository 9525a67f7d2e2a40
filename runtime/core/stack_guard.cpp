// Implements the guard: a SIGSEGV handler on a stack of its own, which compares the address that faulted with the end
// of the running fibre's or thread's stack and with the first page, and the stack pointer with the stack.
#include "runtime/core/stack_guard.h"

#include "runtime/abi.h"
#include "runtime/core/fibre.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/system_memory.h"

#include <atomic>
#include <csignal>
#include <mutex>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

namespace strata::runtime {

namespace {

std::atomic<void (*)(size_t)> overflowHandler{nullptr};
std::atomic<void (*)(size_t, const void*)> nullHandler{nullptr};
std::atomic<void (*)(bool, const void*)> wildHandler{nullptr};

} // namespace

void setOverflowHandler(void (*handler)(size_t bytes)) {
  overflowHandler.store(handler);
}

void setNullHandler(void (*handler)(size_t address, const void* context)) {
  nullHandler.store(handler);
}

void setWildHandler(void (*handler)(bool isReadOnly, const void* context)) {
  wildHandler.store(handler);
}

#if defined(STRATA_ADDRESS_SANITIZER) || defined(STRATA_THREAD_SANITIZER)

void guardStacks() {}

#else

namespace {

constexpr size_t handlerStackBytes = 256 << 10; // what reports a failure shows source, and allocates
constexpr size_t threadGapBytes = 64 << 10;
constexpr unsigned secondsToReport = 5;

struct sigaction previous;

/// The calling thread's own stack, which may grow down to `low`.
thread_local const char* threadStackLow = nullptr;
thread_local size_t threadStackBytes = 0;

/// Where the stack ended that was in use when a signal came; null where that is not known how.
const char* stackPointer(const void* state) {
  const auto& context = *static_cast<const ucontext_t*>(state);
#if defined(__x86_64__)
  return reinterpret_cast<const char*>(context.uc_mcontext.gregs[REG_RSP]); // NOLINT(performance-no-int-to-ptr)
#elif defined(__aarch64__)
  return reinterpret_cast<const char*>(context.uc_mcontext.sp); // NOLINT(performance-no-int-to-ptr)
#else
  return nullptr;
#endif
}

/// Whether it was a write; false where that is not known how.
bool isWrite(const void* state) {
#if defined(__x86_64__)
  return static_cast<const ucontext_t*>(state)->uc_mcontext.gregs[REG_ERR] & 2;
#else
  return false;
#endif
}

void onFault(int signal, siginfo_t* info, void* state) {
  const char* at = static_cast<const char*>(info->si_addr);
  if (const Execution* me = currentIfAny()) {
    // A thread's stack has a gap below it that is larger than a page, and a frame may step over the first one.
    const char* low = me->native ? threadStackLow : me->context.stack.base;
    const size_t gap = me->native ? threadGapBytes : 0;
    // A large frame has stepped over the page: the stack pointer is no longer in the stack.
    const char* used = me->native ? nullptr : stackPointer(state);
    const bool left = used && (used < low || used > low + me->context.stack.bytes);
    if (low && ((at < low + gap && at >= low - pageBytes() - gap) || left)) {
      alarm(secondsToReport); // ends the program even if the fibre held a lock that reporting needs
      if (void (*handler)(size_t) = overflowHandler.load(); handler && !me->native)
        handler(me->context.stack.bytes);
      static const StrataCheck overflow{"runtime-stack-overflow",
                                        "the program has used up a stack of {0} bytes",
                                        "it calls itself without end, or too deep; or local variables are too large",
                                        nullptr,
                                        0,
                                        0};
      const auto bytes = static_cast<int64_t>(me->native ? threadStackBytes : me->context.stack.bytes);
      strata_fail(&overflow, &bytes, 1);
    }
  }
  const auto address = reinterpret_cast<uintptr_t>(at);
  const bool isNull = info->si_code == SEGV_MAPERR && address < pageBytes();
  // Addresses that no process can have come from the kernel without a value.
  const bool isReadOnly = info->si_code == SEGV_ACCERR && isWrite(state);
  const bool isWild = !isNull && (info->si_code == SEGV_MAPERR || info->si_code == SI_KERNEL || isReadOnly);
  if (void (*handler)(size_t, const void*) = nullHandler.load(); handler && isNull) {
    alarm(secondsToReport);
    handler(address, state);
    alarm(0);
  }
  if (void (*handler)(bool, const void*) = wildHandler.load();
      handler && isWild && !(previous.sa_flags & SA_SIGINFO) && previous.sa_handler == SIG_DFL) {
    alarm(secondsToReport);
    handler(isReadOnly, state);
    alarm(0);
  }
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(signal, info, state);
  else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    previous.sa_handler(signal);
  else
    sigaction(SIGSEGV, &previous, nullptr); // the instruction faults again, now as if this handler were not there
}

/// The stack that a thread handles signals on, while the thread lives.
struct HandlerStack {
  void* base = nullptr;
  ~HandlerStack() {
    if (!base)
      return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    systemMemory().unmap(base, handlerStackBytes);
  }
};
thread_local HandlerStack handlerStack;

} // namespace

void guardStacks() {
  stack_t present{};
  if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) && !handlerStack.base) {
    if (void* base = systemMemory().map(handlerStackBytes)) {
      handlerStack.base = base;
      stack_t own{};
      own.ss_sp = base;
      own.ss_size = handlerStackBytes;
      sigaltstack(&own, nullptr);
    }
  }
  if (pthread_attr_t attributes; !threadStackLow && pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* low = nullptr;
    if (pthread_attr_getstack(&attributes, &low, &threadStackBytes) == 0)
      threadStackLow = static_cast<const char*>(low);
    pthread_attr_destroy(&attributes);
  }
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action{};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous);
  });
}

#endif

} // namespace strata::runtime
