// Implements stacks and switches. The shared list of stacks is guarded by a spin lock; everything else belongs to the
// calling thread.
#include "runtime/core/fibre.h"

#include "runtime/core/failure.h"
#include "runtime/core/spin_lock.h"
#include "runtime/core/system_memory.h"

#include <boost/context/detail/fcontext.hpp>

#include <algorithm>
#include <atomic>
#include <cxxabi.h>
#include <mutex>
#include <string>
#include <utility>

#ifdef STRATA_ADDRESS_SANITIZER
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef STRATA_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace strata::runtime {
namespace {

namespace context = boost::context::detail;

#if defined(STRATA_ADDRESS_SANITIZER) || defined(STRATA_THREAD_SANITIZER)
constexpr size_t defaultStackBytes = 256 << 10; // instrumented frames are several times larger
#else
constexpr size_t defaultStackBytes = 60 << 10; // with the page below, 64 KiB
#endif
constexpr size_t cachedStacks = 64;
constexpr size_t stacksPerMapping = 16;

std::atomic<size_t> stackBytes{defaultStackBytes};

struct SharedStacks {
  SpinLock lock;
  std::vector<Stack> free;
};
SharedStacks& sharedStacks() {
  static auto* stacks = new SharedStacks; // lives as long as threads may run
  return *stacks;
}

/// Maps several stacks at once, each above a page that faults.
std::vector<Stack> mapStacks(size_t bytes) {
  const size_t page = pageBytes();
  const size_t step = bytes + page;
  SystemMemory& memory = systemMemory();
  char* base = static_cast<char*>(memory.reserve(step * stacksPerMapping));
  std::vector<Stack> stacks;
  for (size_t i = 0; base && i < stacksPerMapping; ++i) {
    char* low = base + i * step + page;
    if (!memory.commit(low, bytes))
      break;
    stacks.push_back({low, bytes});
  }
  if (stacks.empty()) {
    if (base)
      memory.unmap(base, step * stacksPerMapping);
    fail("runtime-out-of-memory",
         "no room for the stack of one more fibre, which takes " + std::to_string(bytes) + " bytes; " +
             std::to_string(memory.available()) + " are available",
         "let fewer instances, runs and moves wait at once; where memory is left, let the system allow a process more "
         "mappings (vm.max_map_count in Linux), of which a stack takes two");
  }
  return stacks;
}

/// Finishes a switch on the stack that it leads to.
void* arrive(FibreContext& to, void* leftAt) {
  to.from->saved = leftAt;
#ifdef STRATA_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(to.sanitizerStack, nullptr, nullptr);
#endif
  return to.argument;
}

#ifdef STRATA_ADDRESS_SANITIZER
__attribute__((no_sanitize("address")))
#endif
void enter(context::transfer_t transfer) {
  auto& to = *static_cast<FibreContext*>(transfer.data);
  to.entry(arrive(to, transfer.fctx));
  __builtin_unreachable();
}

} // namespace

Stack StackCache::take() {
  const size_t bytes = stackBytes.load(std::memory_order_relaxed);
  while (!stacks_.empty()) {
    Stack stack = stacks_.back();
    stacks_.pop_back();
    if (stack.bytes == bytes)
      return stack;
    systemMemory().unmap(stack.base - pageBytes(), stack.bytes + pageBytes());
  }
  SharedStacks& shared = sharedStacks();
  {
    std::lock_guard guard(shared.lock);
    while (!shared.free.empty() && stacks_.size() < cachedStacks / 2) {
      if (shared.free.back().bytes == bytes)
        stacks_.push_back(shared.free.back());
      else
        systemMemory().unmap(shared.free.back().base - pageBytes(), shared.free.back().bytes + pageBytes());
      shared.free.pop_back();
    }
  }
  if (stacks_.empty())
    stacks_ = mapStacks(bytes);
  Stack stack = stacks_.back();
  stacks_.pop_back();
  return stack;
}

void StackCache::give(Stack stack) {
#ifdef STRATA_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(stack.base, stack.bytes); // an ended fibre leaves its outermost frame behind
#endif
  stacks_.push_back(stack);
  if (stacks_.size() <= cachedStacks)
    return;
  SharedStacks& shared = sharedStacks();
  std::lock_guard guard(shared.lock);
  shared.free.insert(shared.free.end(), stacks_.begin() + cachedStacks / 2, stacks_.end());
  stacks_.resize(cachedStacks / 2);
}

void StackCache::flush() {
  SharedStacks& shared = sharedStacks();
  std::lock_guard guard(shared.lock);
  shared.free.insert(shared.free.end(), stacks_.begin(), stacks_.end());
  stacks_.clear();
}

void setFibreStackBytes(size_t bytes) {
  const size_t page = pageBytes();
  bytes = std::max<size_t>(bytes, 16 << 10);
  stackBytes.store((bytes + page - 1) / page * page, std::memory_order_relaxed);
}

size_t fibreStackBytes() {
  return stackBytes.load(std::memory_order_relaxed);
}

void prepareFibre(FibreContext& fibre, void (*entry)(void*)) {
  fibre.entry = entry;
  fibre.exceptions = {};
  fibre.saved = context::make_fcontext(fibre.stack.base + fibre.stack.bytes, fibre.stack.bytes, enter);
#ifdef STRATA_THREAD_SANITIZER
  if (!fibre.sanitizerFibre)
    fibre.sanitizerFibre = __tsan_create_fiber(0);
#endif
}

ExceptionState* exceptionsOfThread() {
  return reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
}

void adoptThread([[maybe_unused]] FibreContext& thread) {
#ifdef STRATA_ADDRESS_SANITIZER
  pthread_attr_t attributes;
  void* base = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &base, &bytes);
    pthread_attr_destroy(&attributes);
  }
  thread.stack = {static_cast<char*>(base), bytes};
#endif
#ifdef STRATA_THREAD_SANITIZER
  thread.sanitizerFibre = __tsan_get_current_fiber();
#endif
}

__attribute__((noinline)) void* switchFibre(FibreContext& from, FibreContext& to, void* argument,
                                            [[maybe_unused]] bool ending) {
  to.from = &from;
  to.argument = argument;
#ifdef STRATA_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(ending ? nullptr : &from.sanitizerStack, to.stack.base, to.stack.bytes);
  if (ending)
    from.sanitizerStack = nullptr;
#endif
#ifdef STRATA_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.sanitizerFibre, 0);
#endif
  context::transfer_t back = context::jump_fcontext(to.saved, &to);
  return arrive(from, back.fctx);
}

void retireFibre(FibreContext& fibre) {
#ifdef STRATA_THREAD_SANITIZER
  if (fibre.sanitizerFibre) {
    __tsan_destroy_fiber(fibre.sanitizerFibre);
    fibre.sanitizerFibre = nullptr;
  }
#endif
  fibre.sanitizerStack = nullptr;
  fibre.saved = nullptr;
}

} // namespace strata::runtime
