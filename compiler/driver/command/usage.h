// What the command says of a command line that it does not understand: which word, why, and where to read what is
// right. What the parser of options refused is said in the words of all other messages. Used by main alone, from one
// thread.
#pragma once

#include "compiler/driver/session/session.h"

#include <CLI/CLI.hpp>

namespace strata::driver {

/// A command line that the parser refused with `error`. Returns an exit status.
int usageError(Session& session, const CLI::App& app, int argc, char** argv, const CLI::ParseError& error);

/// A command line that breaks a rule of ours, at a place that may be none. Without `help`, where the command's options
/// are listed. Returns an exit status.
int misuse(Session& session, const Location& where, const std::string& what, const std::string& help = "");

/// The first word that is this option, long or short, with a value behind an equals sign or without; no valid place
/// where there is none.
Location placeOf(const Session& session, const CLI::App& command, const std::string& option);

/// Looks at options whose value is an empty word, which says nothing, and at flags with a value. False where there is
/// one (reported).
bool checkValues(Session& session, const CLI::App& command);

/// Looks at the words behind a program, which are files of C. False where one is none (reported).
bool checkFilesOfC(Session& session);

} // namespace strata::driver
