// Where the files are that come with the running program: an installation, or a build folder in the source tree. Any
// thread may ask. Without LLVM, as all of this folder is: loading it takes longer than all that is done here.
#pragma once

#include <string>

namespace strata::drop_in {

/// The path of the running program, symbolic links followed; empty where the system does not tell.
std::string runningProgram();

/// A file of the tree that the running program is in, be it an installation or a build folder in the source tree, by
/// its path in an installation; empty when it is in none of the folders above the program.
std::string findAbove(const std::string& file);

} // namespace strata::drop_in
