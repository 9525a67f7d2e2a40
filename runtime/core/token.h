// Tokens: the ends of things that run beside their starter. A token counts how many it waits for before its own work
// may begin, and those that wait for it. Any thread; shared by the starter and the work through a count of references.
//
// Invariants:
// 1. `undone` is 1 + the tokens it comes after that have not ended, until the work begins.
// 2. The lists are guarded by the lock, and nothing is added to them once `done` is set.
#pragma once

#include "runtime/abi.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/spin_lock.h"
#include "runtime/core/wait_list.h"

#include <atomic>
#include <cstdint>
#include <vector>

struct StrataToken {
  std::atomic<uint32_t> references{2};
  std::atomic<int32_t> undone{1};
  std::atomic<bool> done{false};
  strata::runtime::SpinLock lock;
  strata::runtime::WaitList waiters;
  std::vector<StrataToken*> followers;
  void (*body)(void*) = nullptr;
  void* arguments = nullptr; // a copy, aligned to 64
  strata::runtime::Role role;
};

namespace strata::runtime {

/// Whether every token given has ended.
bool allDone(StrataToken* const* after, int32_t count);
/// Starts body(a copy of the arguments) as the role given once the tokens in `after` have ended.
StrataToken* startTask(void (*body)(void*), const void* arguments, int64_t argumentBytes, const Role& role,
                       StrataToken* const* after, int32_t afterCount);

} // namespace strata::runtime
