// A trace: what every functional unit of a processor array did in every cycle, as a file. It is written while the array
// is simulated and holds what is needed to be read without the program: the array, each run's configuration, its
// events. A writer and a reader are used by one thread each.
//
// The file, version 1. Numbers are in groups of seven bits, the least first, the eighth bit says that more follow
// (LEB128); of signed ones, 0, -1, 1, -2, … are 0, 1, 2, 3, …. All else is bytes.
//
//   file      A7 'S' 'T', the version as a byte, records
//   record    its kind as a byte, the payload's size in four bytes, the payload, CRC-32 of all that in four bytes;
//             the least byte first
//   array     kind 1, the first record: the machine's name, the array in the order of machine.h
//   run       kind 2: where the region stands in the array, the cycle of the array's clock in which it starts, its
//             program, its rows and columns, its configuration in the order of configuration.h
//   events    kind 3, any number behind a run: the first cycle, how many cycles later the last one is, how many events,
//             and those by cycle
//   run ends  kind 4: how many events it had, its figures in the order of SimulationStatistics
//   run fails kind 6, in place of the one before: the same, then the error in the order of SimulationError
//   end       kind 5: how many runs there were; nothing follows
//
// Of events with one cycle, the cycles since those before (0 for the first of a record), their number, and for each of
// them: its place less the one before, less one; its position in the unit's program; operands that are registers, each
// register once; the result. Places ascend: (row · columns + column) · units + unit, the first of a cycle is counted
// from -1. A value is a number by the type that the instruction gives it: signed integers as signed ones, unsigned ones
// and bools as they are, floats with their bits reversed (of a float32, those of its four bytes). The result of a move
// is the difference to its operand, signed.
//
// An event has 3 to 50 bytes: 2 for place and position in all but large programs, 1 or 2 for a small integer, at most 5
// for a float32 and 10 for a float64. A cycle has 2 or 3 bytes more, a record 15 or so.
#pragma once

#include "runtime/array/configuration.h"
#include "runtime/array/files.h"
#include "runtime/array/simulate.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strata::array {

/// Where and when a program runs.
struct TracePlace {
  uint32_t row = 0, column = 0; // of the array: the region's element in the north west
  int64_t start = 0;            // cycle 0 of the run, on the array's clock
  friend bool operator==(const TracePlace&, const TracePlace&) = default;
};

class TraceWriter {
public:
  /// Takes the file's bytes in pieces, in their order. False: it cannot; the writer then stops.
  using Sink = std::function<bool(std::string_view)>;

  TraceWriter(Sink sink, const std::string& machine, const machine::ProcessorArray& array);
  /// REQUIRES: `configuration` makes sense on the array (check_configuration.h) and lives until the run's end; no run
  /// is open.
  void beginRun(const TracePlace& place, const Configuration& configuration);
  /// REQUIRES: of the open run, by cycle.
  void add(const TraceEvent& event);
  void endRun(const SimulationStatistics& statistics);
  /// In place of endRun(): what came before is what happened until the error.
  void failRun(const SimulationStatistics& statistics, const SimulationError& error);
  /// REQUIRES: no run is open. False: the sink did not take all of it.
  bool finish();

private:
  void writeCycle();
  void writeChunk();
  void writeEnd(const SimulationStatistics& statistics, const SimulationError* error);
  void writeRecord(uint8_t kind, const std::string& payload);

  Sink sink_;
  bool isFine_ = true;
  uint64_t runs_ = 0, events_ = 0; // of the open run
  const Configuration* configuration_ = nullptr;
  std::vector<TraceEvent> cycle_; // those of one cycle
  std::string chunk_;             // an events record without its head
  uint64_t chunkEvents_ = 0;
  int64_t chunkFirst_ = 0, chunkLast_ = 0;
};

/// A run of a trace.
struct TraceRun {
  TracePlace place;
  std::string program;
  uint32_t rows = 1, columns = 1; // of the region
  uint64_t events = 0;
  SimulationStatistics statistics;
  std::optional<SimulationError> failure; // it ended with that, in an element of the region or in none
};

class TraceReader {
public:
  /// Any bytes may be given; they outlive the reader. All of them are looked at, none are kept.
  static std::variant<TraceReader, FileError> open(std::string_view bytes);

  const std::string& machine() const { return machine_; }
  const machine::ProcessorArray& array() const { return array_; }
  const std::vector<TraceRun>& runs() const { return runs_; }

  /// Of a run, which makes sense on the array. REQUIRES (here and below): there is such a run.
  std::variant<Configuration, FileError> configuration(size_t run) const;
  /// Calls `each` for the events of cycles from `first` to `last`, by cycle, then by row, column and unit. Each is of a
  /// unit and an instruction that there are. `each` returns false to end it. REQUIRES: `configuration` is the run's.
  std::optional<FileError> events(size_t run, const Configuration& configuration, int64_t first, int64_t last,
                                  const std::function<bool(const TraceEvent&)>& each) const;

private:
  struct Part {
    size_t offset = 0, size = 0; // of a payload
  };
  struct Chunk {
    Part part;
    int64_t first = 0, last = 0;
  };
  struct Stored {
    Part configuration;
    size_t firstChunk = 0, chunks = 0;
  };
  explicit TraceReader(std::string_view bytes) : bytes_(bytes) {}
  void readRecords();

  std::string_view bytes_;
  std::string machine_;
  machine::ProcessorArray array_;
  std::vector<TraceRun> runs_;
  std::vector<Stored> stored_; // by run
  std::vector<Chunk> chunks_;
};

/// How many units an element has at most, all instances together.
inline constexpr uint64_t mostTraceUnits = 4096;

/// Events for people, a line each: "(0, 1) alu0 2: shri rd0, 1 -> fd0: 12, 1 -> 6". REQUIRES: of units and instructions
/// that there are.
class TraceText {
public:
  /// Both outlive this.
  TraceText(const machine::ProcessorArray& array, const Configuration& configuration);
  std::string operator()(const TraceEvent& event) const;

private:
  const Configuration& configuration_;
  std::vector<std::string> units_;
};

/// The class of an element; UINT32_MAX: it is in no region.
uint32_t classOf(const Configuration& configuration, int64_t row, int64_t column);

} // namespace strata::array
