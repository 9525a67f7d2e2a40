// The grammar of the command line: every command with its options. What parses it, --help, the man pages and the
// completion of shells are all made from it. Used by main alone, from one thread.
#pragma once

#include "compiler/driver/session/session.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace strata::driver {

struct Commands {
  std::unique_ptr<CLI::App> app;
  // Owned by `app`.
  CLI::App *run = nullptr, *check = nullptr, *build = nullptr, *map = nullptr, *tune = nullptr, *estimate = nullptr,
           *instantiate = nullptr, *machine = nullptr, *show = nullptr, *help = nullptr, *completion = nullptr;
};

/// The options are bound to `options`, which must live as long as the result.
Commands makeCommands(Options& options);

} // namespace strata::driver
