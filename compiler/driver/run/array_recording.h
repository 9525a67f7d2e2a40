// What strata run writes down of a processor array: its trace (--trace FILE.trace), as it is simulated, and the page of
// its first run (--timeline). Used by one thread.
#pragma once

#include "compiler/driver/compile/notations.h"
#include "compiler/driver/pages/array_page.h"
#include "compiler/driver/session/session.h"
#include "compiler/driver/session/streamed_file.h"
#include "compiler/target/array_recorder.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace strata::driver {

/// "fir on array-4x4, 1 x 4 elements": the title of a run's page.
std::string arrayTitle(const array::Configuration& configuration, const std::string& machine);

class ArrayRecording : public target::ArrayRecorder {
public:
  explicit ArrayRecording(Session& session) : session_(session) {}
  /// Whether the command asks for anything that this writes, wherever its program runs.
  bool isWanted() const { return isTraced() || !session_.options.timeline.empty(); }
  /// From now on runs are recorded: of a command that runs a program several times, the last.
  void start(std::string machine);
  /// Writes what was recorded. False on errors (reported).
  bool finish();

  bool begin(const machine::ProcessorArray& array, const array::Configuration& configuration,
             const array::TracePlace& place) override;
  void add(const array::TraceEvent& event) override;
  void end(const array::SimulationStatistics& statistics) override;
  /// Writes what was recorded until then.
  std::string fail(const array::SimulationStatistics& statistics, const array::SimulationError& error) override;

private:
  bool isTraced() const { return isArrayTrace(session_.options.trace); }
  /// Ends the files. False on errors (reported).
  bool write();

  Session& session_;
  std::string machine_;
  bool isStarted_ = false, isOpen_ = false; // the last: a run is recorded
  size_t runs_ = 0;
  std::optional<StreamedFile> file_;
  std::optional<array::TraceWriter> writer_;
  // Of the first run, for its page.
  machine::ProcessorArray array_;
  array::Configuration configuration_;
  ArrayPageValues values_;
  array::SimulationStatistics statistics_;
};

} // namespace strata::driver
