// The page of a run on a processor array: the array in any cycle, the schedule of an element's units, their programs.
// It opens by itself in a browser; light or dark as the reader has it. What units execute follows from the
// configuration, so that a large array over a long run is a small page. Pure functions; any thread.
#pragma once

#include "base/machine/machine.h"
#include "runtime/array/configuration.h"
#include "runtime/array/simulate.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace strata::driver {

/// How many events' operands and results a page holds at most: those of the first cycles.
inline constexpr size_t arrayPageEvents = 200'000;

/// The operands and results that a page shows: those of all instructions in the cycles from `first` up to `end`, which
/// is moved down where there are more than a page holds.
struct ArrayPageValues {
  std::vector<array::TraceEvent> events; // by cycle
  int64_t first = 0, end = std::numeric_limits<int64_t>::max();
  uint64_t all = 0;                              // events of the run
  bool isRecorded = false;                       // false: there are none
  std::string others;                            // how a page with others is made; may be empty
  std::string runs;                              // what is said of other runs; may be empty
  std::optional<array::SimulationError> failure; // the run ended with that

  /// REQUIRES: events come by cycle.
  void add(const array::TraceEvent& event);
};

/// A document in HTML. Of the events, those that add() left. A run without cycles counts as one until the last element
/// has executed its iterations. The configuration may hold anything, names included.
std::string arrayPage(const machine::ProcessorArray& array, const array::Configuration& configuration,
                      const ArrayPageValues& values, const array::SimulationStatistics& statistics,
                      const std::string& title);

} // namespace strata::driver
