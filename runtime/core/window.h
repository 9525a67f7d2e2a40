// Windows: blocks in memories that processors do not address, such as disks. A window is a range of reserved address
// space, so that arithmetic on pointers and views works as in memory, while an access by a load or store faults. Its
// elements are moved by a backend that knows where they really are. Any thread and any fibre may call everything here.
//
// Invariants:
// 1. Windows do not overlap each other or any memory; an address belongs to one window or to none.
// 2. A window stays as long as moves of it are under way: who closes it has waited for them.
// 3. What a backend does for one move never changes elements that the move does not name, so that moves of different
//    elements of one window may go on at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace strata::runtime {

/// A move between a window and memory. Strides are in elements, as compiled code gives them.
struct WindowMove {
  bool intoWindow = false; // else out of it
  char* memory = nullptr;  // the first element there; only read when `intoWindow`
  const int64_t* memoryStrides = nullptr;
  int64_t offset = 0; // bytes from the window's beginning to the first element there
  const int64_t* windowStrides = nullptr;
  const int64_t* extents = nullptr;
  int32_t rank = 0;
  int64_t elementBytes = 1;
};

class WindowBackend;
/// The window that an address is in, with its backend; no backend: ordinary memory.
struct WindowPlace {
  WindowBackend* backend = nullptr;
  int64_t offset = 0; // bytes from the window's beginning
  char* first = nullptr;
};

/// A move between two windows, as one of them sees it. Strides are in elements, offsets in bytes.
struct WindowExchange {
  bool intoWindow = false; // else out of it
  int64_t offset = 0;
  const int64_t* strides = nullptr;
  WindowPlace other;
  const int64_t* otherStrides = nullptr;
  const int64_t* extents = nullptr;
  int32_t rank = 0;
  int64_t elementBytes = 1;
};

/// Moves the elements of a window from and to where they are kept, as in a file.
class WindowBackend {
public:
  virtual ~WindowBackend() = default;
  /// Carries out a move and returns when it is done. It may block the execution that calls, which parks, but keeps no
  /// thread from others for long. Ends the program through runtime/core/failure.h when it cannot. REQUIRES: every
  /// element lies inside the window.
  virtual void move(const WindowMove& move) = 0;
  /// Moves parts of the window to memory, one like `first` from each of the offsets, `memoryStep` bytes apart there.
  virtual void readEach(const WindowMove& first, const std::vector<int64_t>& offsets, int64_t memoryStep) {
    WindowMove part = first;
    for (const int64_t offset : offsets) {
      part.offset = offset;
      move(part);
      part.memory += memoryStep;
    }
  }
  /// Where the elements of a part are, if the execution reaches all of them in memory of its own, at even distances:
  /// gives these, in elements, by dimension. Null: they are not. Of `part` neither memory nor direction is looked at.
  virtual char* inPlace(const WindowMove& /*part*/, int64_t* /*strides*/) { return nullptr; }
  /// Whether what begins at this distance from the window's beginning is for the backend to move; else it is memory.
  virtual bool holds(int64_t) const { return true; }
  /// Carries out a move from or to another window without memory between the two. False: it cannot, and has done
  /// nothing.
  virtual bool exchange(const WindowExchange&) { return false; }
  /// What has been written is where other computers find it when this returns.
  virtual void settle() {}
  /// Whether every rank of a cluster has this window (runtime/host/ranks.h).
  virtual bool isEverywhere() const { return false; }
};

/// Reserves address space for `bytes` bytes. `what` names the block in an out-of-memory error. `at`, if it is not null:
/// addresses that are reserved already, and stay so when the window is closed.
char* openWindow(int64_t bytes, std::unique_ptr<WindowBackend> backend, const char* what, void* at = nullptr);
/// Gives the address space and the backend back. REQUIRES: `first` is what openWindow returned.
void closeWindow(void* first);
WindowPlace findWindow(const void* address);

/// Whether what compiled code takes for memory may be in a window all the same: memory of another process.
std::atomic<bool>& hasWindowsOfMemory();
/// Whether an address that compiled code takes for one in memory is in a window.
inline bool isInWindow(const void* address) {
  return hasWindowsOfMemory().load(std::memory_order_relaxed) && findWindow(address).backend;
}

} // namespace strata::runtime
