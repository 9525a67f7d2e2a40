// What `strata --help` and `strata COMMAND --help` look like: lines that fit a terminal, words for what an option
// takes, and command lines to begin with. The same facts as man pages and as completion for shells. The texts about
// options stand where the options are made. Used by main alone, from one thread.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace strata::driver {

/// What stands behind an option or in the place of a positional argument.
struct OptionValue {
  enum class Kind {
    Nothing, // nothing that can be proposed
    Words,   // one of `proposals`
    File,    // a file that ends in one of `proposals`; without any, every file
    Folder,
    Machine, // the name of a machine, or a file
    Data,    // NAME=FILE
  };
  std::string name; // "--machine", or a positional's "PROGRAM"
  std::string text; // how help writes it; empty: as CLI11 does
  Kind kind;
  std::string proposals; // words with blanks between
};

/// One of kind Nothing for what takes no value.
const OptionValue& valueOf(const CLI::Option& option);
/// Without its hyphens; empty where an option has a short name only.
std::string longName(const CLI::Option& option);
/// The example lines of a command, each two blanks deep, or with "" of strata itself; empty where there are none. They
/// run as they stand in the root of the source tree.
std::string examplesOf(const std::string& command);

/// Descriptions in a column of their own, wrapped at 100 characters.
std::shared_ptr<CLI::Formatter> helpFormatter();

/// Gives the options of all commands of `app` the words for what they take, and each command its examples.
void finishHelp(CLI::App& app);

/// The manual page of a command, or with null of strata itself, for `man` (the man macros of troff).
std::string manualPage(const CLI::App& app, const CLI::App* command, const std::string& version);

/// A script that completes commands, options and what these take. `shell`: bash, zsh or fish.
std::string completionScript(const CLI::App& app, const std::string& shell);

} // namespace strata::driver
