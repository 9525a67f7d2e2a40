// The command lines of strata cc and strata c++: what is theirs is taken out, and where the files are that Clang is
// given is found out. One thread.
#pragma once

#include "base/data/options.h"
#include "base/source/diagnostic.h"
#include "compiler/drop_in/drop_in.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::drop_in {

/// What strata cc --help prints.
const char* ccHelp();

/// Whether a command line has words that take the compiler to understand: files of arguments, and LLVM IR, which may be
/// HPVM's.
bool needsCompiler(const std::vector<std::string>& arguments);

/// What strata cc, or strata c++, does with the arguments behind the command's name, which stands at word 1 of `line`.
/// Options for the link go to the environment. Nothing on errors (reported).
std::optional<DropIn> ccCommand(const CommandLine& line, const std::vector<std::string>& arguments, bool isCxx,
                                DiagnosticEngine& diagnostics);

} // namespace strata::drop_in
