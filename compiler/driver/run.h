// Running an entry point on this computer's processors, and the figures of it.
#pragma once

#include "compiler/driver/commands.h"
#include "compiler/driver/entry.h"
#include "runtime/abi.h"

namespace strata::driver {

/// The tables of the runtime for a machine. Lives as long as the process once code has run on it.
class MachineTable {
public:
  explicit MachineTable(const Machine& machine);
  const StrataMachine* get() const { return &table_; }

private:
  std::vector<std::string> names_;
  std::vector<StrataMemory> memories_;
  std::vector<StrataProcessor> processors_;
  StrataMachine table_;
};

struct RunFigures {
  std::vector<double> seconds; // of each repetition, the entry alone
  std::map<std::string, int64_t> counters;
  std::map<std::string, std::string> paths; // how each kernel's code came about
};

} // namespace strata::driver
