// What `strata --help` and `strata COMMAND --help` look like: lines that fit a terminal, words for what an option
// takes, and command lines to begin with. The texts about options stand where the options are made. Used by main alone,
// from one thread.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>

namespace strata::driver {

/// Descriptions in a column of their own, wrapped at 100 characters.
std::shared_ptr<CLI::Formatter> helpFormatter();

/// Gives the options of all commands of `app` the words for what they take, and each command its examples, which run as
/// they stand in the root of the source tree.
void finishHelp(CLI::App& app);

} // namespace strata::driver
