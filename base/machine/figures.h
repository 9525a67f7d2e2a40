// What passes and the runtime ask of the hardware: figures of a machine's processors and memories, with documented
// values for what a machine does not state, and the thresholds that follow from them. Each threshold is a formula, and
// stands here and nowhere else. Values; any thread.
//
// No figure changes a result. They decide what is vectorised, prefetched, stored in pairs or given to another thread.
#pragma once

#include "base/machine/machine.h"

#include <string>

namespace strata::machine {

/// Which values a figure takes.
struct FigureRule {
  const char* field;
  uint64_t least, most;
  bool isPowerOfTwo;
  bool holds(uint64_t value) const;
  /// "a power of two from 4 to 256 is possible"
  std::string takes() const;
};
inline constexpr FigureRule vectorRule{"vector", 4, 256, true};
inline constexpr FigureRule vectorRegistersRule{"vector_registers", 1, 1024, false};
inline constexpr FigureRule vectorLatencyRule{"vector_latency", 1, 1024, false};
inline constexpr FigureRule operationsRule{"operations", 1, 64, false};
inline constexpr FigureRule storesRule{"stores", 1, 64, false};
inline constexpr FigureRule memoryLatencyRule{"memory_latency", 1, 1 << 20, false};
inline constexpr FigureRule lineRule{"line", 8, 1024, true};
inline constexpr FigureRule pageRule{"page", 1 << 10, 1 << 30, true};
inline constexpr FigureRule largePageRule{"large_page", 1 << 11, 1 << 30, true};
inline constexpr FigureRule cacheRule{"capacity", 8, uint64_t(1) << 60, false};

/// The figures of a machine as a whole: a kernel may run on any of its processors, and code made for the least of them
/// suits all. What stands here is taken where a machine states nothing: the figures of a server's core with AVX-512, so
/// that a machine of which only memories and links are known is carried out by such code.
struct Figures {
  uint64_t vectorBytes = 64;
  uint64_t vectorRegisters = 32;
  uint64_t vectorLatency = 4; // cycles
  uint64_t operationsPerCycle = 3;
  uint64_t storesPerCycle = 2;
  uint64_t memoryLatency = 800; // cycles
  uint64_t lineBytes = 64;
  uint64_t pageBytes = 4 << 10;
  uint64_t largePageBytes = 2 << 20;
  uint64_t cacheBytes = 2 << 20; // of the second cache from a processor, or of the only one

  /// Bytes that a loop may hope to find again in a cache near by: a quarter of the cache, the rest being for what else
  /// passes through it. Blocks of leaves are chosen to fit, and rows that take less are not prefetched.
  uint64_t nearBytes() const { return cacheBytes / 4; }
  /// Bytes of the blocks of a leaf, of which its code keeps a panel in the cache and passes by the rest: enough for
  /// that to be worth it.
  uint64_t blockBytes() const { return 4 * cacheBytes; }
  /// Bytes that a loop reads again and again while others pass through the cache: half of it.
  uint64_t panelBytes() const { return cacheBytes / 2; }
  /// Bytes of a piece of a row from which on the processor has guessed how the reads go on: an eighth of a page.
  uint64_t longPieceBytes() const { return pageBytes / 8; }
  /// Rows that a piece is asked for ahead of its use: as many as are worked on while memory answers, a row taking a
  /// hundred cycles.
  uint64_t rowsAhead() const { return (memoryLatency + 99) / 100; }

  /// Cycles of an operation among others that do not wait for it; and of a lane of a gather, which a core takes apart:
  /// a load, and half as much again as a scalar takes to get at its index and to put the element in its place.
  double scalarCycles() const { return 1.0 / static_cast<double>(operationsPerCycle); }
  double gatherCycles() const { return 4.5 / static_cast<double>(operationsPerCycle); }
  /// Operations that a core has under way at once: those of a hundred cycles.
  uint64_t window() const { return 100 * operationsPerCycle; }
  /// Tiles of a loop over rows that are listed between asking for a line and using it: as many as go by until memory
  /// answers, a tile's part of a row taking two hundred cycles.
  uint64_t tilesAhead() const { return (memoryLatency + 199) / 200; }

  /// Whether two stores of `bytes` each, side by side, are better made one: where a register holds both and the
  /// processor carries out one store a cycle or two, which is less than it carries out of anything else.
  bool areStoresPaired(uint64_t bytes) const { return storesPerCycle <= 2 && 2 * bytes <= vectorBytes; }
  /// What the heads of loops are aligned to, bytes: a line. A loop that straddles lines of the instruction cache runs
  /// up to a tenth slower, and where it would fall is chance.
  uint64_t loopAlignment() const { return lineBytes; }

  /// Bytes from which on a copy is worth a task of its own. A task takes about a thousand cycles to start, and a copy
  /// carries half a register in each.
  uint64_t taskBytes() const { return 1024 * vectorBytes / 2; }
  /// Instances of loop equations from which on a part of them is worth another processor: some thirty for each of the
  /// thousand cycles that it takes to start.
  uint64_t taskInstances() const { return 32 * 1024; }
  /// Bytes of a row that each of several processors has at least, where they share the rows of an array in each of many
  /// steps. Where two pieces meet both write to one line, which goes back and forth once a row.
  uint64_t sharedRowBytes() const { return 64 * lineBytes; }
  /// Elements a side of the tiles in which rows become columns: of 4 bytes, a line.
  uint64_t tileElements() const { return lineBytes / 4; }

  friend bool operator==(const Figures&, const Figures&) = default;
};

/// The figures of a machine: of each, the least that one of the processors states which run kernels of users; for
/// caches, of those local to them; for pages, of all memories.
Figures figuresOf(const Machine& machine);

} // namespace strata::machine
