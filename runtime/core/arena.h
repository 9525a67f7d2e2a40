// The arena of an execution: scratch memory that is acquired and released like a stack. Chunks of memory are mapped
// once and go from arena to arena through one shared cache, so that scratch costs no page faults once a program is
// warm.
//
// An arena belongs to one execution and is used by it alone; the shared cache is thread safe.
//
// Invariants:
// 1. Blocks are aligned to 64 bytes; the 64 bytes in front of each hold the state of the arena before it.
// 2. The last block acquired is the first released; anything else is the failure "runtime-release-order".
// 3. Bytes of a chunk that belong to no block are poisoned in builds with the address sanitizer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::runtime {

class Arena {
public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `what` names the block when memory runs out, which is the failure "runtime-out-of-memory".
  void* acquire(int64_t bytes, const char* what);
  void release(void* block);
  /// Gives every chunk back to the shared cache. Blocks that are still held are lost.
  void clear();

private:
  struct Chunk;
  struct Header;
  friend struct ChunkCache;
  void* acquireInNewChunk(int64_t bytes, const char* what);
  void* place(size_t bytes, size_t room, bool openedChunk);

  Chunk* top_ = nullptr;
  Chunk* spare_ = nullptr; // an empty chunk kept so that a loop at a chunk's border stays cheap
  char* free_ = nullptr;   // first free byte of top_
  char* end_ = nullptr;
  void* last_ = nullptr;
};

/// Unmaps what the shared cache holds. For tests and for long-lived processes that want the memory back.
void trimArenas();
/// Bytes of chunks mapped since the process began: stays the same while scratch is only reused.
uint64_t arenaBytesMapped();

} // namespace strata::runtime
