// A command at work: its options, as they were understood, and what it reports.
#pragma once

#include "base/data/options.h"
#include "compiler/driver/compile/pass_watch.h"
#include "compiler/driver/compile/pipeline.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::driver {

/// Exit statuses.
constexpr int statusFine = 0, statusUserError = 1, statusOurError = 2;

struct Options {
  std::string command; // run, check, …
  CompileOptions compile;
  std::vector<std::string> moreThings; // files of the same program
  std::string thing;                   // what to show; of help the command, of completion the shell
  std::string picture;                 // --picture
  std::vector<std::string> sizes, inputs, outputs, entries;
  unsigned repeat = 1;
  unsigned nodes = 1;  // processes that the machine is spread over
  std::string starter; // what starts them, and its options; empty: mpirun
  std::string stats;   // empty: none; "text"; "json"; "json:FILE"
  std::string emit;    // ast svm placed scheduled llvm asm after:PASS
  std::string output;  // -o
  std::string trace, timeline;
  std::string cycles;    // --cycles A..B, of a processor array's trace
  unsigned shownRun = 0; // --run of one; 0: not given
  std::string scratch;   // a folder; empty: $TMPDIR or /tmp
  bool check = false, remarks = false, interpret = false, json = false, werror = false, list = false, header = false,
       isManual = false, timePasses = false;
  unsigned tuneSeconds = 0;  // that strata tune takes; 0: not said
  unsigned tuneTrials = 0;   // mappings that it tries at most; 0: as many as there is time for
  std::string tuneBy;        // --by: "runs", "estimate"; empty: as the machine is
  std::string searchPicture; // --search
  bool isUntuned = false;    // no mapping that was remembered is used
  bool isTuned = false;      // the mapping is one that was remembered
  std::string color = "auto";
  std::vector<std::string> mains;     // files of C with the program's main
  std::string interface;              // how C passes arrays; empty: as the program's notation does
  std::vector<std::string> arguments; // behind --, for a program with a main
  std::string dependencies;           // --depfile
  unsigned optimization = 3;          // of native code by LLVM
  // How loop programs go onto a processor array (array_arguments.h).
  std::string distribute, order, region, corner;
  std::vector<std::string> skews, leastTiles, tiles;
};

/// What a command works with. The command line is kept so that diagnostics can point into it.
struct Session {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  std::unique_ptr<CommandLine> commandLine;
  Options options;
  PassWatch watch;           // of --time-passes and --emit=after:PASS
  bool isOutputLost = false; // standard output did not take what was printed (reported)
};

/// Writes text to a file (whole or not at all) or, for "-" and "", to standard output. False when that failed
/// (reported).
bool writeText(Session& session, const std::string& path, const std::string& text);
/// Prints what was reported; returns statusUserError when that includes errors, else `otherwise`.
int finish(Session& session, int otherwise = statusFine);

} // namespace strata::driver
