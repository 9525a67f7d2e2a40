// Implements the engines: one queue of moves under a mutex, and as many threads as the machines used so far ask for.
// They live as long as the process.
#include "runtime/core/engine.h"

#include "runtime/core/failure.h"
#include "runtime/core/token.h"
#include "runtime/core/trace.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace strata::runtime {
namespace {

struct QueuedMove {
  StrataToken* token = nullptr;
  MovePlan plan;
  void* destination = nullptr;
  const void* source = nullptr;
  const StrataWay* way = nullptr;
  QueuedMove* previous = nullptr;
  QueuedMove* next = nullptr;
};

/// First in, first out: what was started first is needed first.
class Engines {
public:
  /// False when there is no engine, as where the system gives no threads: the caller then carries it out.
  bool push(QueuedMove& move) {
    bool wake = false;
    {
      std::lock_guard guard(lock_);
      while (threads_ < enginesFor(move.token->role.context->machine()) && makeEngineThread(serve))
        ++threads_;
      if (threads_ == 0)
        return false;
      move.previous = last_;
      (last_ ? last_->next : first_) = &move;
      last_ = &move;
      wake = idle_ > 0;
    }
    if (wake)
      ready_.notify_one();
    return true;
  }
  /// The move of a token, if nobody has taken it.
  QueuedMove* take(StrataToken* token) {
    std::lock_guard guard(lock_);
    auto* move = static_cast<QueuedMove*>(token->work);
    if (move && (move == first_ || move->previous)) {
      remove(*move);
      return move;
    }
    return nullptr;
  }
  QueuedMove* takeNext() {
    std::unique_lock guard(lock_);
    ++idle_;
    ready_.wait(guard, [&] { return first_ != nullptr; });
    --idle_;
    QueuedMove* move = first_;
    remove(*move);
    return move;
  }

private:
  static void serve();

  void remove(QueuedMove& move) {
    (move.previous ? move.previous->next : first_) = move.next;
    (move.next ? move.next->previous : last_) = move.previous;
    move.token->work = nullptr;
  }

  std::mutex lock_;
  std::condition_variable ready_;
  QueuedMove* first_ = nullptr;
  QueuedMove* last_ = nullptr;
  uint32_t idle_ = 0;
  uint32_t threads_ = 0;
};

Engines& engines() {
  static auto* instance = new Engines; // the threads sleep through the end of the process
  return *instance;
}

void carryOut(QueuedMove* move) {
  const int64_t begin = move->way ? traceClock() : 0;
  executeMove(move->plan, move->destination, move->source);
  if (move->way)
    traceMove(move->token->role, *move->way, move->plan.bytes(), begin, traceClock());
  StrataToken* token = move->token;
  delete move;
  complete(token);
}

void Engines::serve() {
  while (true)
    carryOut(engines().takeNext());
}

} // namespace

uint32_t enginesFor(const StrataMachine* machine) {
  static const uint32_t most = std::max(1u, std::thread::hardware_concurrency() / 2);
  uint64_t moves = 0;
  for (uint32_t i = 0; machine && i < machine->processor_count; ++i)
    moves += uint64_t(machine->processors[i].moves) * machine->processors[i].count;
  return static_cast<uint32_t>(std::clamp<uint64_t>(moves, 1, most));
}

StrataToken* startMove(MovePlan plan, void* destination, const void* source, const StrataWay* way, const Role& role,
                       StrataToken* const* after, int32_t afterCount) {
  auto* move = new (std::nothrow) QueuedMove{nullptr, std::move(plan), destination, source, way};
  if (!move)
    failOutOfMemory("a move", sizeof(QueuedMove));
  return startBeside(
      [](StrataToken* token) {
        auto* queued = static_cast<QueuedMove*>(token->work);
        queued->token = token;
        if (!engines().push(*queued))
          carryOut(queued);
      },
      [](StrataToken* token) {
        if (QueuedMove* queued = engines().take(token))
          carryOut(queued);
      },
      move, role, after, afterCount);
}

} // namespace strata::runtime
