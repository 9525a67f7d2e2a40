// Who is told what a processor array does in every cycle, such as who writes it down. Used by one thread at a time.
#pragma once

#include "runtime/array/trace.h"

namespace strata::target {

class ArrayRecorder {
public:
  virtual ~ArrayRecorder() = default;
  /// A run begins. Whether its events are wanted; if not, the run is not slowed down, and neither add() nor end()
  /// is called. The configuration lives until the run's end.
  virtual bool begin(const machine::ProcessorArray& array, const array::Configuration& configuration,
                     const array::TracePlace& place) = 0;
  /// By cycle.
  virtual void add(const array::TraceEvent& event) = 0;
  /// The run has ended well.
  virtual void end(const array::SimulationStatistics& statistics) = 0;
  /// A run has failed, whether its events were wanted or not, and with it the command. Gives what helps to see why, for
  /// the user; may be empty.
  virtual std::string fail(const array::SimulationStatistics& statistics, const array::SimulationError& error) = 0;
};

} // namespace strata::target
