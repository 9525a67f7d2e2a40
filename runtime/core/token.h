// Tokens: completion events of work that goes on beside its starter. A token counts the tokens that it waits for before
// its own work may begin, and lists those that wait for it. The work is a task, which runs on a fibre, or is done
// outside of all executions (an engine's move, a request to the system) and then ends with complete(). Any thread.
// Shared by the starter and the work through a count of references; until the work has ended a user of the run context
// that it belongs to.
//
// Invariants:
// 1. `undone` is 1 + the tokens it comes after that have not ended, until the work begins.
// 2. The lists are guarded by the lock, and nothing is added to them once `done` is set.
// 3. Whoever sees `done` finds given back what only this work held of its run context: role.context is there no longer.
#pragma once

#include "runtime/abi.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/spin_lock.h"
#include "runtime/core/wait_list.h"

#include <atomic>
#include <cstdint>
#include <vector>

struct StrataToken {
  explicit StrataToken(const strata::runtime::Role& role) : role(role) { role.context->retain(); }
  StrataToken(const StrataToken&) = delete;
  StrataToken& operator=(const StrataToken&) = delete;

  std::atomic<uint32_t> references{2};
  std::atomic<int32_t> undone{1};
  std::atomic<bool> done{false};
  strata::runtime::SpinLock lock;
  strata::runtime::WaitList waiters;
  std::vector<StrataToken*> followers;
  void (*begin)(StrataToken* token) = nullptr;       // once nothing that it comes after is left; may be on any thread
  void (*beginBeside)(StrataToken* token) = nullptr; // what startBeside() was given
  void (*help)(StrataToken* token) = nullptr; // null, or: does the work in an execution that waits, if none has begun
  void* work = nullptr;                       // for `begin`
  const strata::runtime::Role role;
};

namespace strata::runtime {

/// Whether every token given has ended.
bool allDone(StrataToken* const* after, int32_t count);
/// Starts body(a copy of the arguments) as the role given once the tokens in `after` have ended.
StrataToken* startTask(void (*body)(void*), const void* arguments, int64_t argumentBytes, const Role& role,
                       StrataToken* const* after, int32_t afterCount);

/// Starts work that goes on outside of all executions. begin(token) is called once, when the tokens in `after` have
/// ended, by the starter, by an execution or by a thread of makeEngineThread(); it takes token->work and must not park.
/// Whoever does the work calls complete(token) when it has ended. A program that waits for it is not deadlocked.
StrataToken* startBeside(void (*begin)(StrataToken* token), void (*help)(StrataToken* token), void* work,
                         const Role& role, StrataToken* const* after, int32_t afterCount);
/// Ends a token of startBeside: wakes those that wait and begins what comes after it. Any thread, once.
void complete(StrataToken* token);

} // namespace strata::runtime
