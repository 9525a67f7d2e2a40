// The command line of a linker, as Clang writes it: which files it names. Thread safe.
#pragma once

#include <string>
#include <vector>

namespace strata::linking {

/// The objects and libraries that a linker's arguments name, in order: files, what files of arguments (@FILE) name, and
/// libraries (-lNAME, -l:FILE, --library=NAME). Shared libraries are among them where `withShared`; one that is not
/// found is left out.
std::vector<std::string> linkedFiles(const std::vector<std::string>& arguments, bool withShared = false);

/// The symbols that the linker replaces by others (--wrap=SYMBOL, --defsym=SYMBOL=EXPRESSION).
std::vector<std::string> replacedSymbols(const std::vector<std::string>& arguments);

/// The arguments with others (a line each) behind all files and libraries of the user's, and before those of
/// the language that Clang adds at the end.
std::vector<std::string> withLibraries(std::vector<std::string> arguments, const std::string& libraries);

/// The arguments with objects of ours behind the last object of the user's, where the linker has met all that those
/// miss: in front of a library that it would otherwise pass over they would change what it takes of that. In front of
/// all where there is no object but in files of arguments.
std::vector<std::string> withObjects(std::vector<std::string> arguments, const std::vector<std::string>& objects);

/// Whether what is linked is joined objects (-r), which are linked once more later.
bool joinsObjects(const std::vector<std::string>& arguments);

} // namespace strata::linking
