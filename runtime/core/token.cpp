// Implements tokens and the tasks behind them. A task is a fibre that starts when the last token before it ends.
#include "runtime/core/token.h"

#include "runtime/core/failure.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

namespace strata::runtime {
namespace {

constexpr size_t argumentAlignment = 64;

/// The work of a task.
struct Task {
  void (*body)(void*);
  void* arguments; // a copy, aligned
};

void dropReference(StrataToken* token) {
  if (token->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete token;
}

/// Counts off one token that the work came after, or the starter's own hold on it.
void countOff(StrataToken* token) {
  if (token->undone.fetch_sub(1, std::memory_order_acq_rel) == 1)
    token->begin(token);
}

void finish(StrataToken* token) {
  Waiter* waiters = nullptr;
  std::vector<StrataToken*> followers;
  token->role.context->release();
  {
    std::lock_guard guard(token->lock);
    token->done.store(true, std::memory_order_release);
    waiters = token->waiters.detach();
    followers.swap(token->followers);
  }
  WaitList::wake(waiters);
  for (StrataToken* follower : followers)
    countOff(follower);
  dropReference(token);
}

void runTask(void* argument) {
  auto* token = static_cast<StrataToken*>(argument);
  auto* task = static_cast<Task*>(token->work);
  task->body(task->arguments);
  ::operator delete(task->arguments, std::align_val_t(argumentAlignment));
  delete task;
  leaveContext(*current()); // the token may be its last user
  finish(token);
}

/// Lets a new token begin once those before it have ended.
void launch(StrataToken* token, StrataToken* const* after, int32_t afterCount) {
  for (int32_t i = 0; i < afterCount; ++i) {
    StrataToken* before = after[i];
    if (!before)
      continue;
    std::lock_guard guard(before->lock);
    if (before->done.load(std::memory_order_relaxed))
      continue;
    token->undone.fetch_add(1, std::memory_order_relaxed);
    before->followers.push_back(token);
  }
  countOff(token);
}

void describeToken(const void* object, std::string& out) {
  const auto& token = *static_cast<const StrataToken*>(object);
  out += "the end of what runs beside it";
  const StrataMachine* machine = token.role.context->machine();
  if (machine && token.role.processor < machine->processor_count)
    out += std::string(" on ") + machine->processors[token.role.processor].name + " " +
           std::to_string(token.role.instance);
  if (const int32_t undone = token.undone.load(); undone > 0)
    out += ", which itself comes after " + std::to_string(undone) + (undone == 1 ? " other" : " others");
}

} // namespace

bool allDone(StrataToken* const* after, int32_t count) {
  return std::all_of(after, after + std::max(count, 0),
                     [](const StrataToken* token) { return !token || token->done.load(std::memory_order_acquire); });
}

StrataToken* startTask(void (*body)(void*), const void* arguments, int64_t argumentBytes, const Role& role,
                       StrataToken* const* after, int32_t afterCount) {
  const auto bytes = static_cast<size_t>(std::max<int64_t>(argumentBytes, 0));
  auto* token = new (std::nothrow) StrataToken(role);
  void* copy = ::operator new(std::max<size_t>(bytes, 1), std::align_val_t(argumentAlignment), std::nothrow);
  auto* task = new (std::nothrow) Task{body, copy};
  if (!token || !copy || !task)
    failOutOfMemory("the arguments of a task", argumentBytes);
  if (bytes)
    std::memcpy(copy, arguments, bytes);
  token->begin = [](StrataToken* ready) { start(runTask, ready, ready->role); };
  token->work = task;
  launch(token, after, afterCount);
  return token;
}

StrataToken* startBeside(void (*begin)(StrataToken*), void (*help)(StrataToken*), void* work, const Role& role,
                         StrataToken* const* after, int32_t afterCount) {
  auto* token = new (std::nothrow) StrataToken(role);
  if (!token)
    failOutOfMemory("a move", sizeof(StrataToken));
  token->begin = [](StrataToken* ready) {
    besideBegun();
    ready->beginBeside(ready);
  };
  token->beginBeside = begin;
  token->help = help;
  token->work = work;
  launch(token, after, afterCount);
  return token;
}

void complete(StrataToken* token) {
  finish(token);
  besideEnded(); // last, so that what has been woken is seen before a standstill is
}

} // namespace strata::runtime

using namespace strata::runtime;

StrataToken* strata_spawn(void (*body)(void*), const void* arguments, int64_t argument_bytes, uint32_t processor,
                          int64_t instance, StrataToken* const* after, int32_t after_count) {
  const Execution& me = *current();
  return startTask(body, arguments, argument_bytes, {me.runContext, processor, instance}, after, after_count);
}

void strata_wait(StrataToken* token) {
  if (!token || token->done.load(std::memory_order_acquire))
    return;
  if (token->help && token->undone.load(std::memory_order_acquire) == 0) {
    token->help(token);
    if (token->done.load(std::memory_order_acquire))
      return;
  }
  Waiter waiter{current()};
  {
    std::lock_guard guard(token->lock);
    if (token->done.load(std::memory_order_relaxed))
      return;
    token->waiters.add(waiter);
  }
  WaitList::waitFor(waiter, {describeToken, token});
}

void strata_token_retain(StrataToken* token) {
  if (token)
    token->references.fetch_add(1, std::memory_order_relaxed);
}

void strata_token_release(StrataToken* token) {
  if (token)
    dropReference(token);
}
