// The command line of a linker, as Clang writes it: which files it names. Thread safe.
#pragma once

#include <string>
#include <vector>

namespace strata::linking {

/// The objects and libraries that a linker's arguments name, in order: files, what files of arguments (@FILE) name, and
/// libraries (-lNAME, -l:FILE, --library=NAME). Shared libraries are among them where `withShared`; one that is not
/// found is left out.
std::vector<std::string> linkedFiles(const std::vector<std::string>& arguments, bool withShared = false);

/// The symbols that the linker replaces by others (--wrap=SYMBOL).
std::vector<std::string> wrappedSymbols(const std::vector<std::string>& arguments);

/// The arguments with others (a line each) behind all files and libraries of the user's, and before those of
/// the language that Clang adds at the end.
std::vector<std::string> withLibraries(std::vector<std::string> arguments, const std::string& libraries);

/// Whether what is linked is joined objects (-r), which are linked once more later.
bool joinsObjects(const std::vector<std::string>& arguments);

} // namespace strata::linking
