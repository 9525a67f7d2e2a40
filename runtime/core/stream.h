// Streams: rings of elements of one size between one pusher and one popper, of exactly the capacity asked for. push()
// and pop() are here so that code compiled with this header inlines them; abi.h has the same as calls.
//
// One execution pushes and one pops at a time; which ones may change, if something else orders them. A stream is
// destroyed when nobody uses it any more. A StrataStream object is never freed, only reused, so that a late look at it
// does no harm.
//
// Invariants:
// 1. pushed - popped is the number of elements inside, between 0 and capacity.
// 2. Only the pusher writes `pushed`, only the popper writes `popped`. Each keeps a copy of the other's number, and
//    reads the original only when the copy says full or empty.
// 3. A side that blocks leaves itself in popperWaits or pusherWaits and looks once more before it parks. The other side
//    tests that after each step, without a fence: scheduler.h's parkUnfenced makes up for it.
#pragma once

#include "runtime/abi.h"
#include "runtime/core/execution.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

struct StrataStream {
  // The pusher's line.
  alignas(64) std::atomic<uint64_t> pushed{0};
  uint64_t poppedSeen = 0;
  char* writeAt = nullptr;
  int32_t pusherSpins = 64;

  // The popper's line.
  alignas(64) std::atomic<uint64_t> popped{0};
  uint64_t pushedSeen = 0;
  const char* readAt = nullptr;
  int32_t popperSpins = 64;

  // Read by both, written seldom.
  alignas(64) std::atomic<strata::runtime::Execution*> pusherWaits{nullptr};
  std::atomic<strata::runtime::Execution*> popperWaits{nullptr};
  std::atomic<uint64_t> popperNeeds{0}; // the value of `pushed` that the waiting popper needs
  std::atomic<uint64_t> pusherNeeds{0}; // the value of `popped` that the waiting pusher needs
  std::atomic<bool> ended{false};
  uint64_t capacity = 0;
  uint64_t elementBytes = 0;
  char* begin = nullptr;
  char* end = nullptr;

  std::string name;
  const StrataStreamPlace* place = nullptr; // where it was said to be; null: it was not
  StrataStream* nextFree = nullptr;
};

namespace strata::runtime {

// ---- what the inline functions fall back to ----

/// Returns once there is room for `count` elements. REQUIRES: count <= capacity.
void waitForRoom(StrataStream& stream, uint64_t count);
/// Returns true once `count` elements are there, false when the stream ends before. REQUIRES: count <= capacity.
bool waitForElements(StrataStream& stream, uint64_t count);
void wakePopper(StrataStream& stream);
void wakePusher(StrataStream& stream);
extern bool wakerNeedsFence;

inline void copyElement(void* to, const void* from, uint64_t bytes) {
  if (bytes == 4)
    std::memcpy(to, from, 4);
  else if (bytes == 8)
    std::memcpy(to, from, 8);
  else if (bytes != 0) // elements of no size may lie nowhere
    std::memcpy(to, from, bytes);
}

/// Between writing `pushed` or `popped` and looking whether the other side waits.
inline void orderBeforeWaiters() {
#ifndef STRATA_THREAD_SANITIZER // which knows no fences
  if (__builtin_expect(wakerNeedsFence, 0))
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// ---- the pusher's side ----

/// Elements that can be pushed without waiting. Exact for the pusher; only grows behind his back.
inline uint64_t room(StrataStream& stream) {
  stream.poppedSeen = stream.popped.load(std::memory_order_acquire);
  return stream.capacity - (stream.pushed.load(std::memory_order_relaxed) - stream.poppedSeen);
}

/// REQUIRES: there is room.
inline void pushIntoRoom(StrataStream& stream, const void* element) {
  const uint64_t pushed = stream.pushed.load(std::memory_order_relaxed);
  copyElement(stream.writeAt, element, stream.elementBytes);
  char* at = stream.writeAt + stream.elementBytes;
  stream.writeAt = at == stream.end ? stream.begin : at;
  stream.pushed.store(pushed + 1, std::memory_order_release);
  orderBeforeWaiters();
  if (__builtin_expect(stream.popperWaits.load(std::memory_order_acquire) != nullptr, 0))
    wakePopper(stream);
}

inline void push(StrataStream& stream, const void* element) {
  if (__builtin_expect(stream.pushed.load(std::memory_order_relaxed) - stream.poppedSeen >= stream.capacity, 0))
    waitForRoom(stream, 1);
  pushIntoRoom(stream, element);
}

// ---- the popper's side ----

/// Elements that can be popped without waiting. Exact for the popper; only grows behind his back.
inline uint64_t available(StrataStream& stream) {
  stream.pushedSeen = stream.pushed.load(std::memory_order_acquire);
  return stream.pushedSeen - stream.popped.load(std::memory_order_relaxed);
}

/// False when the stream has ended.
inline bool pop(StrataStream& stream, void* element) {
  const uint64_t popped = stream.popped.load(std::memory_order_relaxed);
  if (__builtin_expect(stream.pushedSeen == popped, 0) && !waitForElements(stream, 1))
    return false;
  copyElement(element, stream.readAt, stream.elementBytes);
  const char* at = stream.readAt + stream.elementBytes;
  stream.readAt = at == stream.end ? stream.begin : at;
  stream.popped.store(popped + 1, std::memory_order_release);
  orderBeforeWaiters();
  if (__builtin_expect(stream.pusherWaits.load(std::memory_order_acquire) != nullptr, 0))
    wakePusher(stream);
  return true;
}

/// Takes back the end of a stream, so that more can be pushed. Called by the pusher's side, when the popper has seen
/// the end.
inline void reopen(StrataStream& stream) {
  stream.ended.store(false, std::memory_order_release);
}

} // namespace strata::runtime
