// Implements windows: the table of those that are open, and moves between windows and memory, which go by way of their
// backends. A move from one window to another goes through memory, in pieces.
#include "runtime/core/window.h"

#include "runtime/abi.h"
#include "runtime/core/engine.h"
#include "runtime/core/failure.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/system_memory.h"
#include "runtime/core/token.h"
#include "runtime/core/trace.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <numeric>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace strata::runtime {
namespace {

constexpr int64_t pieceBytes = int64_t(4) << 20; // of a move between two windows

struct Window {
  char* first;
  int64_t bytes; // reserved
  bool isOwn;    // and to be given back
  std::unique_ptr<WindowBackend> backend;
};

struct Windows {
  std::shared_mutex lock;
  std::vector<Window> open; // by address

  /// The first that begins behind the address.
  auto behind(const void* address) {
    return std::upper_bound(open.begin(), open.end(), address,
                            [](const void* at, const Window& window) { return std::less<>()(at, window.first); });
  }
};

Windows& windows() {
  static auto* instance = new Windows; // moves may go on to the end of the process
  return *instance;
}

} // namespace

std::atomic<bool>& hasWindowsOfMemory() {
  static std::atomic<bool> has{false};
  return has;
}

char* openWindow(int64_t bytes, std::unique_ptr<WindowBackend> backend, const char* what, void* at) {
  const auto page = static_cast<int64_t>(pageBytes());
  int64_t reserved = 0;
  // One page more: the end of a window is not the beginning of another.
  if (__builtin_add_overflow(std::max<int64_t>(bytes, 0), 2 * page, &reserved))
    failOutOfMemory(what, bytes);
  reserved -= reserved % page;
  auto* first = static_cast<char*>(at ? at : systemMemory().reserve(static_cast<size_t>(reserved)));
  if (!first)
    failOutOfMemory(std::string("the addresses of '") + what + "'", bytes);
  Windows& all = windows();
  std::unique_lock guard(all.lock);
  all.open.insert(all.behind(first), Window{first, reserved, at == nullptr, std::move(backend)});
  return first;
}

void closeWindow(void* first) {
  Windows& all = windows();
  Window closed;
  {
    std::unique_lock guard(all.lock);
    auto at = all.behind(first);
    if (at == all.open.begin())
      return;
    --at;
    if (at->first != first)
      return;
    closed = std::move(*at);
    all.open.erase(at);
  }
  if (closed.isOwn)
    systemMemory().unmap(closed.first, static_cast<size_t>(closed.bytes));
}

WindowPlace findWindow(const void* address) {
  Windows& all = windows();
  std::shared_lock guard(all.lock);
  auto at = all.behind(address);
  if (at == all.open.begin())
    return {};
  --at;
  const int64_t offset = static_cast<const char*>(address) - at->first;
  return offset < at->bytes && at->backend->holds(offset) ? WindowPlace{at->backend.get(), offset, at->first}
                                                          : WindowPlace();
}

namespace {

/// The operands of a move, as compiled code gives them.
struct Operands {
  char* destination;
  const int64_t* destinationStrides;
  const char* source;
  const int64_t* sourceStrides;
  const int64_t* extents;
  int32_t rank;
  int64_t elementBytes;
};

/// Between two windows: by what one of them can do, else the outermost dimension is cut until a piece fits the memory
/// between.
void moveBetween(const WindowPlace& to, const WindowPlace& from, const Operands& operands) {
  const int32_t rank = operands.rank;
  if (to.backend->exchange({true, to.offset, operands.destinationStrides, from, operands.sourceStrides,
                            operands.extents, rank, operands.elementBytes}) ||
      from.backend->exchange({false, from.offset, operands.sourceStrides, to, operands.destinationStrides,
                              operands.extents, rank, operands.elementBytes}))
    return;
  std::vector<int64_t> extents(operands.extents, operands.extents + rank), dense(static_cast<size_t>(rank), 1);
  int64_t bytes = operands.elementBytes;
  int32_t whole = rank; // dimensions from here on are moved as a whole
  while (whole > 0 && bytes * extents[static_cast<size_t>(whole) - 1] <= pieceBytes)
    bytes *= extents[static_cast<size_t>(--whole)];
  const int64_t step = whole > 0 ? std::max<int64_t>(1, pieceBytes / bytes) : 1;
  std::vector<char> between(static_cast<size_t>(bytes * (whole > 0 ? step : 1)));
  std::vector<int64_t> index(static_cast<size_t>(rank), 0);
  while (true) {
    std::vector<int64_t> piece(extents);
    int64_t into = to.offset, out = from.offset;
    for (int32_t i = 0; i < whole; ++i) {
      const auto at = static_cast<size_t>(i);
      piece[at] = i + 1 == whole ? std::min(step, extents[at] - index[at]) : 1;
      into += index[at] * operands.destinationStrides[i] * operands.elementBytes;
      out += index[at] * operands.sourceStrides[i] * operands.elementBytes;
    }
    int64_t stride = 1;
    for (size_t i = static_cast<size_t>(rank); i-- > 0; stride *= piece[i])
      dense[i] = stride;
    from.backend->move(
        {false, between.data(), dense.data(), out, operands.sourceStrides, piece.data(), rank, operands.elementBytes});
    to.backend->move({true, between.data(), dense.data(), into, operands.destinationStrides, piece.data(), rank,
                      operands.elementBytes});
    int32_t next = whole;
    while (next-- > 0) {
      const auto at = static_cast<size_t>(next);
      index[at] += next + 1 == whole ? step : 1;
      if (index[at] < extents[at])
        break;
      index[at] = 0;
    }
    if (next < 0)
      return;
  }
}

bool isEmpty(const Operands& operands) {
  return std::any_of(operands.extents, operands.extents + operands.rank, [](int64_t extent) { return extent <= 0; });
}

void moveAny(const Operands& operands) {
  if (isEmpty(operands))
    return;
  const WindowPlace to = findWindow(operands.destination), from = findWindow(operands.source);
  if (to.backend && from.backend)
    return moveBetween(to, from, operands);
  if (to.backend)
    return to.backend->move({true, const_cast<char*>(operands.source), operands.sourceStrides, to.offset,
                             operands.destinationStrides, operands.extents, operands.rank, operands.elementBytes});
  if (from.backend)
    return from.backend->move({false, operands.destination, operands.destinationStrides, from.offset,
                               operands.sourceStrides, operands.extents, operands.rank, operands.elementBytes});
  // Arrays of a C program that calls are in memory wherever the mapping has them.
  strata_move(operands.destination, operands.destinationStrides, operands.source, operands.sourceStrides,
              operands.extents, operands.rank, operands.elementBytes);
}

/// A move that goes on beside its starter, with its lists: extents, then the strides of both sides.
struct StartedMove {
  Operands operands;
  int64_t* lists;
  const StrataWay* way; // null: it is not traced
};

int64_t bytesOf(const Operands& operands) {
  return std::accumulate(operands.extents, operands.extents + operands.rank, operands.elementBytes,
                         [](int64_t bytes, int64_t extent) { return bytes * std::max<int64_t>(extent, 0); });
}

void runStartedMove(void* argument) {
  auto& move = *static_cast<StartedMove*>(argument);
  const int64_t begin = move.way ? traceClock() : 0;
  moveAny(move.operands);
  if (move.way && bytesOf(move.operands) > 0)
    traceMove(roleOf(*current()), *move.way, bytesOf(move.operands), begin, traceClock());
  delete[] move.lists;
}

} // namespace
} // namespace strata::runtime

using namespace strata::runtime;

void strata_window_release(void* block) {
  closeWindow(block);
}

void* strata_window_in_place(void* part, const int64_t* part_strides, const int64_t* extents, int32_t rank,
                             int64_t element_bytes, int64_t* strides) {
  const WindowPlace window = findWindow(part);
  if (!window.backend)
    return nullptr;
  WindowMove asked;
  asked.offset = window.offset;
  asked.windowStrides = part_strides;
  asked.extents = extents;
  asked.rank = rank;
  asked.elementBytes = element_bytes;
  return window.backend->inPlace(asked, strides);
}

void strata_window_move(void* destination, const int64_t* destination_strides, const void* source,
                        const int64_t* source_strides, const int64_t* extents, int32_t rank, int64_t element_bytes) {
  moveAny({static_cast<char*>(destination), destination_strides, static_cast<const char*>(source), source_strides,
           extents, rank, element_bytes});
}

StrataToken* strata_window_move_start(void* destination, const int64_t* destination_strides, const void* source,
                                      const int64_t* source_strides, const int64_t* extents, int32_t rank,
                                      int64_t element_bytes, StrataToken* const* after, int32_t after_count) {
  return strata_window_move_start_along(nullptr, destination, destination_strides, source, source_strides, extents,
                                        rank, element_bytes, after, after_count);
}

void strata_window_move_along(const StrataWay* way, void* destination, const int64_t* destination_strides,
                              const void* source, const int64_t* source_strides, const int64_t* extents, int32_t rank,
                              int64_t element_bytes) {
  const Operands operands{static_cast<char*>(destination),
                          destination_strides,
                          static_cast<const char*>(source),
                          source_strides,
                          extents,
                          rank,
                          element_bytes};
  const WaitedMove traced(*way, bytesOf(operands));
  moveAny(operands);
}

StrataToken* strata_window_move_start_along(const StrataWay* way, void* destination, const int64_t* destination_strides,
                                            const void* source, const int64_t* source_strides, const int64_t* extents,
                                            int32_t rank, int64_t element_bytes, StrataToken* const* after,
                                            int32_t after_count) {
  const auto count = static_cast<size_t>(std::max(rank, 0));
  Execution& me = *current();
  auto* lists = new (std::nothrow) int64_t[3 * count + 1];
  if (!lists)
    failOutOfMemory("a move", static_cast<int64_t>(3 * count * sizeof(int64_t)));
  std::copy_n(extents, count, lists);
  std::copy_n(destination_strides, count, lists + count);
  std::copy_n(source_strides, count, lists + 2 * count);
  const StartedMove move{{static_cast<char*>(destination), lists + count, static_cast<const char*>(source),
                          lists + 2 * count, lists, rank, element_bytes},
                         lists,
                         way};
  return startTask(runStartedMove, &move, sizeof move, roleOf(me), after, after_count);
}
