// The command line of a linker, as Clang writes it: which files it names. Thread safe.
#pragma once

#include <string>
#include <vector>

namespace strata::linking {

/// The objects and archives that a linker's arguments name, in order: files, what files of arguments (@FILE) name, and
/// libraries (-lNAME) that are archives. A library that is shared, or is not found, is left out.
std::vector<std::string> linkedFiles(const std::vector<std::string>& arguments);

/// The arguments with others (a line each) behind all files and libraries of the user's, and before those of
/// the language that Clang adds at the end.
std::vector<std::string> withLibraries(std::vector<std::string> arguments, const std::string& libraries);

/// Whether what is linked is joined objects (-r), which are linked once more later.
bool joinsObjects(const std::vector<std::string>& arguments);

} // namespace strata::linking
