// Drawings of the dataflow graphs of C and C++ files, objects, archives and HPVM IR, for strata show.
#pragma once

#include "compiler/driver/session/session.h"

namespace strata::driver {

/// Whether a file's ending is one of those.
bool mayHaveGraphs(llvm::StringRef file);
/// A drawing for each graph that the files of one program launch; HPVM IR is a program of one file. Empty on errors
/// (reported).
std::vector<Picture> graphPictures(Session& session, const std::vector<std::string>& files);

} // namespace strata::driver
