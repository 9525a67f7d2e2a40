// The file is mapped, not loaded, so that traces larger than memory can be shown. Of a page's cycles all events are in
// memory, of a list's one at a time.
#include "compiler/driver/command/array_trace.h"

#include "compiler/driver/pages/array_page.h"
#include "compiler/driver/run/array_recording.h"
#include "compiler/driver/session/streamed_file.h"
#include "runtime/array/trace.h"

#include "llvm/Support/MemoryBuffer.h"

#include <limits>

namespace strata::driver {

STRATA_DIAGNOSTIC(cannotReadArrayTrace, Error, "show-array-trace-cannot-read", "cannot read trace '{0}': {1}");
STRATA_DIAGNOSTIC(badArrayTrace, Error, "show-array-trace", "'{0}' is no trace of a processor array: {1}");
STRATA_DIAGNOSTIC(badCycles, Error, "show-cycles", "--cycles takes the first and the last of some cycles, not '{0}'");
STRATA_DIAGNOSTIC(noRun, Error, "show-run", "there is no run {1} in '{0}', which has {2}");

using array::Configuration, array::FileError, array::TraceEvent, array::TraceReader, array::TraceRun;

namespace {

class ShowTrace {
public:
  explicit ShowTrace(Session& session) : session_(session), options_(session.options) {}

  int run() {
    const llvm::StringRef output = options_.output;
    if (!readCycles())
      return finish(session_);
    // Not the whole of a large file: the system reads what is looked at.
    auto file = llvm::MemoryBuffer::getFile(options_.thing, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!file) {
      session_.diagnostics.report(cannotReadArrayTrace, session_.commandLine->word(2), options_.thing,
                                  file.getError().message());
      return finish(session_);
    }
    auto opened = TraceReader::open(std::string_view((*file)->getBufferStart(), (*file)->getBufferSize()));
    if (const auto* error = std::get_if<FileError>(&opened)) {
      tell(*error);
      return finish(session_);
    }
    const auto& reader = std::get<TraceReader>(opened);
    const size_t first = options_.shownRun > 0 ? options_.shownRun - 1 : 0;
    if (first >= reader.runs().size()) {
      session_.diagnostics
          .report(noRun, place("--run", std::to_string(options_.shownRun)), options_.thing, first + 1,
                  reader.runs().size())
          .help("its runs are counted from 1");
      return finish(session_);
    }
    if (output.ends_with(".html") || output.ends_with(".htm"))
      writePage(reader, first);
    else
      writeList(reader, first, options_.shownRun > 0 ? first + 1 : reader.runs().size());
    return finish(session_);
  }

private:
  Location place(const char* option, const std::string& value) { return session_.commandLine->value(option, value); }

  void tell(const FileError& error) {
    session_.diagnostics.report(badArrayTrace, session_.commandLine->word(2), options_.thing, array::print(error))
        .help("write it anew: strata run PROGRAM … --trace FILE.trace");
  }

  /// "5..9", "5..", "..9" or "5". False on errors (reported).
  bool readCycles() {
    if (options_.cycles.empty())
      return true;
    const llvm::StringRef text = options_.cycles;
    const auto [from, to] = text.split("..");
    const bool isOne = !text.contains("..");
    const bool fine = (from.empty() ? !isOne && !to.empty() : !from.getAsInteger(10, first_)) &&
                      (isOne || to.empty() || !to.getAsInteger(10, last_));
    if (isOne)
      last_ = first_;
    last_ = std::min(last_, std::numeric_limits<int64_t>::max() - 1);
    if (fine && first_ >= 0 && first_ <= last_)
      return true;
    session_.diagnostics.report(badCycles, place("--cycles", options_.cycles), options_.cycles)
        .help("write --cycles 100..199, --cycles 100.. or --cycles ..199");
    return false;
  }

  void writePage(const TraceReader& reader, size_t run) {
    const TraceRun& facts = reader.runs()[run];
    const auto read = reader.configuration(run);
    if (const auto* error = std::get_if<FileError>(&read))
      return tell(*error);
    const auto& configuration = std::get<Configuration>(read);
    ArrayPageValues values;
    values.first = first_;
    values.end = last_ + 1;
    const auto add = [&](const TraceEvent& event) {
      values.add(event);
      return event.cycle < values.end; // behind it nothing is added
    };
    if (const auto error = reader.events(run, configuration, first_, last_, add))
      return tell(*error);
    values.isRecorded = true;
    values.all = facts.events;
    values.failure = facts.failure;
    values.others = "strata show " + options_.thing + " --cycles FIRST..LAST shows those of other cycles.";
    if (reader.runs().size() > 1)
      values.runs = "It is run " + std::to_string(run + 1) + " of " + std::to_string(reader.runs().size()) +
                    " in the trace; --run shows another.";
    writeText(session_, options_.output,
              arrayPage(reader.array(), configuration, values, facts.statistics,
                        arrayTitle(configuration, reader.machine())));
  }

  void writeList(const TraceReader& reader, size_t first, size_t end) {
    StreamedFile file(session_, options_.output);
    for (size_t run = first; run < end; ++run) {
      const TraceRun& facts = reader.runs()[run];
      const auto read = reader.configuration(run);
      if (const auto* error = std::get_if<FileError>(&read))
        return tell(*error);
      const auto& configuration = std::get<Configuration>(read);
      file.write((run > first ? "\n" : "") + headOf(reader, run, configuration));
      const array::TraceText text(reader.array(), configuration);
      int64_t cycle = -1;
      const auto add = [&](const TraceEvent& event) {
        if (event.cycle != cycle)
          file.write("cycle " + std::to_string(event.cycle) + "\n");
        cycle = event.cycle;
        return file.write("  " + text(event) + "\n");
      };
      if (const auto error = reader.events(run, configuration, first_, last_, add))
        return tell(*error);
      if (first_ <= 0 && last_ >= facts.statistics.cycles)
        file.write("end: " + std::to_string(facts.statistics.cycles) + " cycles, " + std::to_string(facts.events) +
                   " instructions\n");
      if (facts.failure)
        file.write("failed: " + facts.failure->message + "\n");
    }
    file.finish();
  }

  std::string headOf(const TraceReader& reader, size_t run, const Configuration& configuration) const {
    const TraceRun& facts = reader.runs()[run];
    std::string head;
    if (reader.runs().size() > 1)
      head = "run " + std::to_string(run + 1) + " of " + std::to_string(reader.runs().size()) + ": ";
    head += arrayTitle(configuration, reader.machine());
    if (facts.place.row != 0 || facts.place.column != 0)
      head += " from (" + std::to_string(facts.place.row) + ", " + std::to_string(facts.place.column) + ")";
    if (facts.place.start != 0)
      head += ", from cycle " + std::to_string(facts.place.start) + " of the array's clock";
    const int64_t interval = configuration.interval;
    return head + ", an iteration every " + (interval == 1 ? "cycle" : std::to_string(interval) + " cycles") + "\n";
  }

  Session& session_;
  const Options& options_;
  int64_t first_ = 0, last_ = std::numeric_limits<int64_t>::max() - 1;
};

} // namespace

int showArrayTrace(Session& session) {
  return ShowTrace(session).run();
}

} // namespace strata::driver
