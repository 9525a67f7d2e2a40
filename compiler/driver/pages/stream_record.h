// The record of a stream program (STRATA_RECORD, runtime/svm/record.h) as it is read back, and its pictures: the graph
// of kernels, streams and blocks, and a page with it, the timeline and tables. Plain data; any thread.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/driver/pages/timeline.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::driver {

/// One side of a stream as one kernel used it; control where there is no kernel.
struct StreamUse {
  std::optional<size_t> kernel; // into StreamsRecord::kernels
  bool pushes = false;
  uint64_t elements = 0, stalls = 0;
  double stalled = 0; // seconds, all waits together
  bool stallsNow = false;
};

struct StreamFacts {
  std::string name, memory, place;
  bool isFifo = false;
  int64_t address = 0;
  uint64_t capacity = 0, elementBytes = 0, initial = 0, pushed = 0, popped = 0, inside = 0;
  std::vector<StreamUse> uses;
};

struct KernelFacts {
  std::string name, processor, kind, place, status;
  uint64_t runs = 0;
  double waiting = 0, running = 0, paused = 0; // seconds
};

struct BlockFacts {
  std::string name, memory, place;
  int64_t address = 0;
  uint64_t capacity = 0, elementBytes = 0;
  std::vector<std::pair<size_t, bool>> users; // kernels; true: it writes
};

struct StreamsRecord {
  std::string program, machine, failure;
  bool ended = false;
  double seconds = 0;
  std::vector<KernelFacts> kernels;
  std::vector<StreamFacts> streams;
  std::vector<BlockFacts> blocks;
  std::vector<std::pair<size_t, size_t>> dependences; // a kernel, and one that it depends on
};

/// Whether text is, or was meant to be, the record of a stream program; other JSON is not.
bool isStreamsRecord(std::string_view text);
/// Reads one. Nothing when something is wrong with it (reported).
std::optional<StreamsRecord> readStreamsRecord(BufferId text, DiagnosticEngine& diagnostics);

/// Whether the graph is small enough to be looked at as a drawing.
bool isDrawable(const StreamsRecord& record);
/// The graph as SVG. `elsewhere`: empty, or for each kernel the sheet of the page that it belongs to, where that is
/// another one than this.
std::string drawStreams(const StreamsRecord& record, const std::string& title,
                        const std::vector<std::string>& elsewhere = {});

/// Kernels that are drawn as one box.
struct KernelGroup {
  std::string name, sheet; // the sheet that shows them one by one
  std::vector<size_t> kernels;
};
/// The groups of a record as SVG. `groupOf` has for each kernel the number of its group.
std::string drawGroups(const StreamsRecord& record, const std::vector<KernelGroup>& groups,
                       const std::vector<size_t>& groupOf, const std::string& title);
/// A graph that is too large for one drawing: sheets with its groups, by the names of kernels and by processors, and
/// one for each group with its kernels and those that they exchange data with.
std::vector<picture::Sheet> streamSheets(const StreamsRecord& record);
/// "ended after 24 ms", and why it failed.
std::string howItWent(const StreamsRecord& record);
/// A page with the graph, the timeline where there is one, and tables.
std::string streamsPage(const StreamsRecord& record, const std::optional<Timeline>& timeline);

} // namespace strata::driver
