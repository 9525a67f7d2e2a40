// Implements the slow half of streams: making and destroying them, waiting, and runs of many elements. StrataStream
// objects come from one list of free ones under a spin lock.
#include "runtime/core/stream.h"

#include "runtime/core/failure.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/spin_lock.h"
#include "runtime/core/spin_until.h"

#include <algorithm>
#include <mutex>
#include <new>

namespace strata::runtime {
namespace {

constexpr size_t lineBytes = 64;

struct FreeStreams {
  SpinLock lock;
  StrataStream* first = nullptr;
};
FreeStreams freeStreams;

/// The fence between a side's entry as the one that waits and its last look before it parks.
void orderAfterWaiting() {
#ifndef STRATA_THREAD_SANITIZER
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

void describeElement(const void* object, std::string& out) {
  const auto& stream = *static_cast<const StrataStream*>(object);
  const uint64_t inside = stream.pushed.load() - stream.popped.load();
  const uint64_t needed = stream.popperNeeds.load() - stream.popped.load();
  out += needed == 1 ? "an element" : std::to_string(needed) + " elements";
  out += " of stream '" + stream.name + "' (" + (inside ? "holds " + std::to_string(inside) : "empty") + ")";
}

void describeRoom(const void* object, std::string& out) {
  const auto& stream = *static_cast<const StrataStream*>(object);
  const uint64_t inside = stream.pushed.load() - stream.popped.load();
  out += "room in stream '" + stream.name + "' (" + (inside == stream.capacity ? "full, " : "holds ") +
         std::to_string(inside) + (inside == 1 ? " element)" : " elements)");
}

bool elementsReady(const void* object, const Execution* popper) {
  const auto& stream = *static_cast<const StrataStream*>(object);
  return stream.popperWaits.load() == popper &&
         (stream.pushed.load() >= stream.popperNeeds.load() || stream.ended.load());
}

bool roomReady(const void* object, const Execution* pusher) {
  const auto& stream = *static_cast<const StrataStream*>(object);
  return stream.pusherWaits.load() == pusher && stream.popped.load() >= stream.pusherNeeds.load();
}

void wake(std::atomic<Execution*>& waiting) {
  if (Execution* execution = waiting.exchange(nullptr, std::memory_order_acq_rel))
    unpark(execution);
}

} // namespace

void waitForRoom(StrataStream& stream, uint64_t count) {
  const auto enough = [&] { return room(stream) >= count; };
  if (enough() || spinUntil(stream.pusherSpins, enough))
    return;
  Execution* me = current();
  stream.pusherNeeds.store(stream.pushed.load(std::memory_order_relaxed) + count - stream.capacity,
                           std::memory_order_relaxed);
  while (true) {
    stream.pusherWaits.store(me, std::memory_order_seq_cst);
    orderAfterWaiting();
    if (enough())
      break;
    parkUnfenced({describeRoom, &stream, stream.place ? stream.place->for_room : "wait for room in a stream"},
                 roomReady);
    if (enough())
      break;
  }
  stream.pusherWaits.store(nullptr, std::memory_order_relaxed);
}

bool waitForElements(StrataStream& stream, uint64_t count) {
  const auto enough = [&] { return available(stream) >= count; };
  const auto ended = [&] { return stream.ended.load(std::memory_order_acquire); };
  const auto settled = [&] { return enough() || ended(); };
  if (enough() || spinUntil(stream.popperSpins, settled))
    return enough();
  if (ended())
    return enough(); // what was pushed before the end
  Execution* me = current();
  stream.popperNeeds.store(stream.popped.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  while (true) {
    stream.popperWaits.store(me, std::memory_order_seq_cst);
    orderAfterWaiting();
    if (settled())
      break;
    parkUnfenced({describeElement, &stream, stream.place ? stream.place->for_elements : "wait for an element"},
                 elementsReady);
    if (settled())
      break;
  }
  stream.popperWaits.store(nullptr, std::memory_order_relaxed);
  return enough();
}

void wakePopper(StrataStream& stream) {
  if (stream.pushed.load(std::memory_order_relaxed) >= stream.popperNeeds.load(std::memory_order_relaxed))
    wake(stream.popperWaits);
}

void wakePusher(StrataStream& stream) {
  if (stream.popped.load(std::memory_order_relaxed) >= stream.pusherNeeds.load(std::memory_order_relaxed))
    wake(stream.pusherWaits);
}

} // namespace strata::runtime

using namespace strata::runtime;

StrataStream* strata_stream_create(int64_t element_bytes, int64_t capacity_elements, const char* name) {
  return strata_stream_create_at(nullptr, element_bytes, capacity_elements, name);
}

StrataStream* strata_stream_create_at(const StrataStreamPlace* place, int64_t element_bytes, int64_t capacity_elements,
                                      const char* name) {
  const std::string called = name ? name : "unnamed";
  int64_t bytes = 0;
  if (element_bytes < 0 || capacity_elements < 1)
    fail("runtime-stream-size",
         "stream '" + called + "' has a capacity of " + std::to_string(capacity_elements) + " elements of " +
             std::to_string(element_bytes) + " bytes",
         "a stream holds at least one element");
  if (__builtin_mul_overflow(element_bytes, capacity_elements, &bytes))
    bytes = INT64_MAX;
  void* buffer = bytes < INT64_MAX
                     ? ::operator new(static_cast<size_t>(bytes) + lineBytes, std::align_val_t(lineBytes), std::nothrow)
                     : nullptr;
  if (!buffer)
    failOutOfMemory("stream '" + called + "'", bytes);
  StrataStream* stream = nullptr;
  {
    std::lock_guard guard(freeStreams.lock);
    stream = freeStreams.first;
    if (stream)
      freeStreams.first = stream->nextFree;
  }
  if (!stream)
    stream = new StrataStream;
  stream->name = called;
  stream->place = place;
  stream->capacity = static_cast<uint64_t>(capacity_elements);
  stream->elementBytes = static_cast<uint64_t>(element_bytes);
  stream->begin = static_cast<char*>(buffer);
  stream->end = stream->begin + bytes;
  stream->writeAt = stream->begin;
  stream->readAt = stream->begin;
  stream->poppedSeen = stream->pushedSeen = 0;
  stream->pusherSpins = stream->popperSpins = 64;
  stream->pushed.store(0);
  stream->popped.store(0);
  stream->ended.store(false);
  return stream;
}

void strata_stream_destroy(StrataStream* stream) {
  if (!stream)
    return;
  ::operator delete(stream->begin, std::align_val_t(lineBytes));
  std::lock_guard guard(freeStreams.lock);
  stream->nextFree = freeStreams.first;
  freeStreams.first = stream;
}

void strata_stream_push(StrataStream* stream, const void* element) {
  push(*stream, element);
}

void strata_stream_multicast(StrataStream* const* streams, int32_t count, const void* element) {
  // Nobody else pushes, so room that has been seen stays.
  for (int32_t i = 0; i < count; ++i)
    waitForRoom(*streams[i], 1);
  for (int32_t i = 0; i < count; ++i)
    pushIntoRoom(*streams[i], element);
}

int32_t strata_stream_pop(StrataStream* stream, void* element) {
  return pop(*stream, element);
}

int32_t strata_stream_peek(StrataStream* stream, int64_t offset, void* element) {
  if (offset < 0 || static_cast<uint64_t>(offset) >= stream->capacity)
    fail("runtime-peek-range",
         "a peek at offset " + std::to_string(offset) + " of stream '" + stream->name + "', whose capacity is " +
             std::to_string(stream->capacity),
         "peek no further than the capacity, or make the stream larger");
  const auto wanted = static_cast<uint64_t>(offset);
  if (stream->pushedSeen - stream->popped.load(std::memory_order_relaxed) <= wanted &&
      !waitForElements(*stream, wanted + 1))
    return 0;
  const uint64_t bytes = wanted * stream->elementBytes;
  const auto untilEnd = static_cast<uint64_t>(stream->end - stream->readAt);
  copyElement(element, bytes < untilEnd ? stream->readAt + bytes : stream->begin + (bytes - untilEnd),
              stream->elementBytes);
  return 1;
}

void strata_stream_end(StrataStream* stream) {
  stream->ended.exchange(true, std::memory_order_seq_cst);
  orderAfterWaiting();
  wake(stream->popperWaits);
}

void strata_stream_write(StrataStream* stream, const void* elements, int64_t count) {
  const char* from = static_cast<const char*>(elements);
  for (auto left = static_cast<uint64_t>(std::max<int64_t>(count, 0)); left;) {
    waitForRoom(*stream, 1);
    uint64_t step =
        std::min(left, stream->capacity - (stream->pushed.load(std::memory_order_relaxed) - stream->poppedSeen));
    if (stream->elementBytes) {
      step = std::min(step, static_cast<uint64_t>(stream->end - stream->writeAt) / stream->elementBytes);
      const uint64_t bytes = step * stream->elementBytes;
      std::memcpy(stream->writeAt, from, bytes);
      from += bytes;
      stream->writeAt = stream->writeAt + bytes == stream->end ? stream->begin : stream->writeAt + bytes;
    }
    stream->pushed.store(stream->pushed.load(std::memory_order_relaxed) + step, std::memory_order_release);
    orderBeforeWaiters();
    if (stream->popperWaits.load(std::memory_order_acquire))
      wakePopper(*stream);
    left -= step;
  }
}

int64_t strata_stream_read(StrataStream* stream, void* elements, int64_t count) {
  char* to = static_cast<char*>(elements);
  int64_t done = 0;
  while (done < count && waitForElements(*stream, 1)) {
    uint64_t step = std::min(static_cast<uint64_t>(count - done),
                             stream->pushedSeen - stream->popped.load(std::memory_order_relaxed));
    if (stream->elementBytes) {
      step = std::min(step, static_cast<uint64_t>(stream->end - stream->readAt) / stream->elementBytes);
      const uint64_t bytes = step * stream->elementBytes;
      std::memcpy(to, stream->readAt, bytes);
      to += bytes;
      stream->readAt = stream->readAt + bytes == stream->end ? stream->begin : stream->readAt + bytes;
    }
    stream->popped.store(stream->popped.load(std::memory_order_relaxed) + step, std::memory_order_release);
    orderBeforeWaiters();
    if (stream->pusherWaits.load(std::memory_order_acquire))
      wakePusher(*stream);
    done += static_cast<int64_t>(step);
  }
  return done;
}
