// strata run: the figures of a run of an entry point, and what is printed of it.
#pragma once

#include "compiler/driver/data/entry.h"
#include "compiler/driver/session/session.h"
#include "compiler/target/target.h"

#include <optional>

namespace strata::driver {

/// What became of a kernel's loops.
struct KernelFigures {
  struct Loop {
    std::string place; // "file:line:column"
    unsigned rows, registers, lanes;
    std::string why; // there is no tile
  };
  std::string name, path;
  std::vector<Loop> loops;
};

struct RunFigures {
  const target::Target* target = nullptr; // what ran
  std::vector<double> seconds;            // of each repetition, the entry alone
  std::map<std::string, int64_t> counters;
  std::map<std::string, std::string> paths; // how each kernel's code came about
  std::vector<KernelFigures> kernels;       // in the order of the program
};

/// "1.25 ms": a time as it is printed everywhere.
std::string timeText(double seconds);

/// Prints, on standard output or as --stats asks, what ran, for how long, and what it wrote.
void reportRun(Session& session, const EntryPoint& entry, const Binding& binding, const DataOptions& data,
               const Machine& machine, RunFigures& figures);

/// One of several programs that have run at once.
struct ProgramRun {
  const Options* options;
  const EntryPoint* entry;
  const Binding* binding;
  const DataOptions* data;
  RunFigures* figures;
  std::string place; // of the array, for people
};

/// The same for several programs, each under a heading, and then what the whole array did, by figures like theirs.
void reportPrograms(Session& session, const std::vector<ProgramRun>& programs, const Machine& machine, int64_t cycles,
                    const std::map<std::string, int64_t>& counters);

/// strata run. Returns an exit status.
int runCommand(Session& session);

/// How a run is measured for whoever compares several.
struct Measurement {
  double enough = 0.2;     ///< seconds: it is repeated until it has run for so long in all,
  unsigned most = 50;      ///< or so often
  double hopeless = 1e300; ///< seconds: where the first few runs all take longer, there are no more
};

/// What a measured run was.
struct Measured {
  std::string entry, machine;
  double seconds = 0; ///< of the entry, the least of all runs
  std::map<std::string, int64_t> sizes;
  std::map<std::string, uint64_t> digests; ///< of the arrays that were written, by name; equal bits, equal digests
};

/// Runs the program of the session, which prints nothing; what it writes is not kept. Arrays that it reads and that are
/// not given are random. Nothing on errors (reported, or, of a run-time failure, printed as the process ends).
std::optional<Measured> measure(Session& session, const Measurement& measurement);

} // namespace strata::driver
