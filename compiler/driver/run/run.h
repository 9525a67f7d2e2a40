// strata run: the figures of a run of an entry point, and what is printed of it.
#pragma once

#include "compiler/driver/data/entry.h"
#include "compiler/driver/session/session.h"
#include "compiler/target/target.h"

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

} // namespace strata::driver
