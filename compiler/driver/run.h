// The figures of a run of an entry point.
#pragma once

#include "compiler/driver/commands.h"
#include "compiler/driver/entry.h"
#include "compiler/target/target.h"

namespace strata::driver {

struct RunFigures {
  const target::Target* target = nullptr; // what ran
  std::vector<double> seconds;            // of each repetition, the entry alone
  std::map<std::string, int64_t> counters;
  std::map<std::string, std::string> paths; // how each kernel's code came about
};

} // namespace strata::driver
