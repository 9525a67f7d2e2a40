// Implements arenas and the shared cache of chunks. A chunk is rounded up in quarter powers of two, so that slightly
// different requests reuse the same chunks; pages never touched cost nothing.
#include "runtime/core/arena.h"

#include "runtime/core/failure.h"
#include "runtime/core/hardware.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/system_memory.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <new>
#include <string>

#ifdef STRATA_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(base, bytes) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(base, bytes) static_cast<void>(0)
#endif

namespace strata::runtime {
namespace {

constexpr size_t line = 64;
constexpr size_t smallestChunk = 64 << 10;
constexpr size_t checkedBytes = 64 << 20; // from here on, available memory is asked for before it is mapped

constexpr size_t roundUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Rounds up to a multiple of a quarter of the power of two below.
size_t chunkBytes(size_t wanted) {
  if (wanted <= smallestChunk)
    return smallestChunk;
  const size_t quarter = std::bit_floor(wanted) / 4;
  const size_t bytes = roundUp(wanted, quarter);
  const size_t largePage = hardware().largePageBytes;
  return bytes >= largePage ? roundUp(bytes, largePage) : bytes;
}

} // namespace

struct Arena::Chunk {
  Chunk* below;
  void* mapping; // what the system gave; the chunk itself may begin later, to be aligned
  size_t mappedBytes;
  size_t bytes;    // from the chunk's beginning to its end
  char* freeBelow; // where the chunk below was left
  char* begin() { return reinterpret_cast<char*>(this) + line; }
  char* end() { return reinterpret_cast<char*>(this) + bytes; }
};

struct Arena::Header {
  char* freeBefore;
  void* lastBefore;
  bool openedChunk;
};

struct ChunkCache {
  std::mutex lock; // held across system calls, which a spin lock must not be
  std::multimap<size_t, Arena::Chunk*> chunks;
  size_t cachedBytes = 0;
  uint64_t mappedBytes = 0;

  static ChunkCache& get() {
    static auto* cache = new ChunkCache; // lives as long as threads may run
    return *cache;
  }

  /// A chunk of at least `wanted` bytes with its header, or null.
  Arena::Chunk* take(size_t wanted) {
    const size_t bytes = chunkBytes(wanted);
    std::lock_guard guard(lock);
    auto found = chunks.lower_bound(bytes);
    if (found != chunks.end() && found->first <= std::max(2 * bytes, size_t(1) << 20)) {
      Arena::Chunk* chunk = found->second;
      cachedBytes -= chunk->bytes;
      chunks.erase(found);
      return chunk;
    }
    return map(bytes);
  }

  void give(Arena::Chunk* chunk) {
    static const size_t limit = systemMemory().total() / 4;
    std::lock_guard guard(lock);
    if (cachedBytes + chunk->bytes > limit) {
      unmap(chunk);
      return;
    }
    cachedBytes += chunk->bytes;
    chunks.emplace(chunk->bytes, chunk);
  }

  void trim() {
    std::lock_guard guard(lock);
    for (auto& [bytes, chunk] : chunks)
      unmap(chunk);
    chunks.clear();
    cachedBytes = 0;
  }

private:
  Arena::Chunk* map(size_t bytes) {
    SystemMemory& memory = systemMemory();
    if (bytes >= checkedBytes && bytes > memory.available())
      return nullptr;
    const size_t largePage = hardware().largePageBytes;
    const bool large = bytes >= largePage;
    const size_t mapped = large ? bytes + largePage : bytes;
    void* base = memory.map(mapped);
    if (!base)
      return nullptr;
    auto* first = static_cast<std::byte*>(base);
    if (large) {
      const auto address = reinterpret_cast<uintptr_t>(base);
      first += roundUp(address, largePage) - address;
      memory.preferLargePages(first, bytes);
    }
    mappedBytes += bytes;
    auto* chunk = new (first) Arena::Chunk{nullptr, base, mapped, bytes, nullptr};
    ASAN_POISON_MEMORY_REGION(chunk->begin(), bytes - line);
    return chunk;
  }
  void unmap(Arena::Chunk* chunk) {
    ASAN_UNPOISON_MEMORY_REGION(chunk, chunk->bytes);
    systemMemory().unmap(chunk->mapping, chunk->mappedBytes);
  }
};

void* Arena::acquire(int64_t bytes, const char* what) {
  const auto room = roundUp(static_cast<size_t>(std::max<int64_t>(bytes, 0)), line) + line;
  if (bytes < 0 || room > static_cast<size_t>(end_ - free_))
    return acquireInNewChunk(bytes, what);
  return place(static_cast<size_t>(bytes), room, false);
}

void* Arena::acquireInNewChunk(int64_t bytes, const char* what) {
  static_assert(sizeof(Chunk) <= line && sizeof(Header) <= line);
  constexpr int64_t absurd = int64_t(1) << 47; // more than a process can address
  if (bytes < 0 || bytes > absurd)
    failOutOfMemory(what ? what : "a block", bytes);
  const size_t room = roundUp(static_cast<size_t>(bytes), line) + line;
  Chunk* chunk = spare_;
  spare_ = nullptr;
  if (chunk && chunk->bytes < room + line) {
    ChunkCache::get().give(chunk);
    chunk = nullptr;
  }
  if (!chunk)
    chunk = ChunkCache::get().take(room + line);
  if (!chunk)
    failOutOfMemory(what ? what : "a block", bytes);
  chunk->below = top_;
  chunk->freeBelow = free_;
  top_ = chunk;
  free_ = chunk->begin();
  end_ = chunk->end();
  return place(static_cast<size_t>(bytes), room, true);
}

void* Arena::place([[maybe_unused]] size_t bytes, size_t room, bool openedChunk) {
  char* at = free_;
  ASAN_UNPOISON_MEMORY_REGION(at, line + bytes);
  new (at) Header{free_, last_, openedChunk};
  ASAN_POISON_MEMORY_REGION(at, line);
  free_ = at + room;
  last_ = at + line;
  return last_;
}

void Arena::release(void* block) {
  if (block != last_)
    fail("runtime-release-order", "a block was released before the one acquired after it");
  char* at = static_cast<char*>(block) - line;
  ASAN_UNPOISON_MEMORY_REGION(at, line);
  const Header header = *reinterpret_cast<Header*>(at);
  ASAN_POISON_MEMORY_REGION(at, static_cast<size_t>(free_ - at));
  last_ = header.lastBefore;
  free_ = header.freeBefore;
  if (!header.openedChunk)
    return;
  Chunk* chunk = top_;
  top_ = chunk->below;
  free_ = chunk->freeBelow;
  end_ = top_ ? top_->end() : nullptr;
  if (spare_ && spare_->bytes >= chunk->bytes)
    std::swap(spare_, chunk);
  if (spare_)
    ChunkCache::get().give(spare_);
  spare_ = chunk;
}

void Arena::clear() {
  while (Chunk* chunk = top_) {
    top_ = chunk->below;
    ASAN_POISON_MEMORY_REGION(chunk->begin(), chunk->bytes - line);
    ChunkCache::get().give(chunk);
  }
  if (spare_)
    ChunkCache::get().give(spare_);
  spare_ = nullptr;
  free_ = end_ = nullptr;
  last_ = nullptr;
}

void trimArenas() {
  ChunkCache::get().trim();
}

uint64_t arenaBytesMapped() {
  ChunkCache& cache = ChunkCache::get();
  std::lock_guard guard(cache.lock);
  return cache.mappedBytes;
}

} // namespace strata::runtime

void* strata_acquire(int64_t bytes, const char* what) {
  return strata::runtime::current()->arena.acquire(bytes, what);
}

void strata_release(void* block) {
  strata::runtime::current()->arena.release(block);
}
