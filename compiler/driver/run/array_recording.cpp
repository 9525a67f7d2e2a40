// Runs go into the trace one after the other; the page has the first. One that fails ends both.
#include "compiler/driver/run/array_recording.h"

#include <algorithm>

namespace strata::driver {

STRATA_DIAGNOSTIC(nothingRan, Error, "array-nothing-recorded",
                  "nothing ran on the processor array, so that '{0}' would be empty");

std::string arrayTitle(const array::Configuration& configuration, const std::string& machine) {
  return configuration.program + " on " + machine + ", " + std::to_string(configuration.rows) + " x " +
         std::to_string(configuration.columns) + " elements";
}

void ArrayRecording::start(std::string machine) {
  isStarted_ = true;
  machine_ = std::move(machine);
}

bool ArrayRecording::begin(const machine::ProcessorArray& array, const array::Configuration& configuration,
                           const array::TracePlace& place) {
  if (!isStarted_ || !isWanted())
    return false;
  ++runs_;
  if (isTraced()) {
    if (!writer_) {
      file_.emplace(session_, session_.options.trace);
      writer_.emplace([this](std::string_view piece) { return file_->write(piece); }, machine_, array);
    }
    writer_->beginRun(place, configuration);
  }
  if (runs_ == 1 && !session_.options.timeline.empty()) {
    array_ = array;
    configuration_ = configuration;
    values_.isRecorded = true;
  }
  isOpen_ = isTraced() || runs_ == 1;
  return isOpen_;
}

void ArrayRecording::add(const array::TraceEvent& event) {
  if (writer_)
    writer_->add(event);
  if (runs_ == 1 && values_.isRecorded)
    values_.add(event);
}

void ArrayRecording::end(const array::SimulationStatistics& statistics) {
  if (writer_)
    writer_->endRun(statistics);
  if (runs_ == 1)
    statistics_ = statistics;
  isOpen_ = false;
}

std::string ArrayRecording::fail(const array::SimulationStatistics& statistics, const array::SimulationError& error) {
  if (!isOpen_)
    return isWanted() && !isStarted_ ? "without --repeat this run is recorded"
                                     : "--trace FILE.trace keeps what happens until then, for strata show";
  isOpen_ = false;
  if (writer_)
    writer_->failRun(statistics, error);
  if (runs_ == 1) {
    statistics_ = statistics;
    values_.failure = error;
  }
  if (!write())
    return "";
  const std::string& page = session_.options.timeline;
  if (!isTraced())
    return "what happened until then is in " + page;
  constexpr int64_t shown = 10;
  const int64_t last = std::max<int64_t>(std::min(error.cycle, statistics.cycles - 1), 0);
  return "what happened until then is in " + session_.options.trace + (page.empty() ? "" : " and " + page) +
         ": strata show " + session_.options.trace + " --cycles " +
         std::to_string(std::max<int64_t>(last - shown + 1, 0)) + ".." + std::to_string(last);
}

bool ArrayRecording::finish() {
  const Options& options = session_.options;
  if (!isWanted())
    return true;
  if (runs_ == 0) {
    const bool isOfTrace = isTraced();
    const std::string& file = isOfTrace ? options.trace : options.timeline;
    session_.diagnostics
        .report(nothingRan, session_.commandLine->value(isOfTrace ? "--trace" : "--timeline", file), file)
        .help("loops run there that are affine equations: --remarks says which are not, and why");
    return false;
  }
  return write();
}

bool ArrayRecording::write() {
  const Options& options = session_.options;
  if (writer_) {
    writer_->finish();
    if (!file_->finish())
      return false;
  }
  if (options.timeline.empty())
    return true;
  values_.others = isTraced() ? "strata show " + options.trace + " --cycles … shows them."
                              : "With --trace FILE.trace, strata show FILE.trace --cycles … shows them.";
  if (runs_ > 1)
    values_.runs = "It is the first of " + std::to_string(runs_) + " runs.";
  return writeText(session_, options.timeline,
                   arrayPage(array_, configuration_, values_, statistics_, arrayTitle(configuration_, machine_)));
}

} // namespace strata::driver
