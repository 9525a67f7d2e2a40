// Mappings that were found and are remembered: files in a folder of the user's, each in the form in which mappings are
// written, beside one that tells how it was found. They are found again by all that decides which mapping is best: the
// program's text and the options that it is read with, its entry point and sizes, the machine, and the version of
// Strata. Whatever of these changes, the mapping is not found, and the default is used.
#pragma once

#include "compiler/driver/session/session.h"

#include <string>

namespace strata::driver {

/// The folder: $STRATA_TUNED, else strata/tuned in $XDG_DATA_HOME or ~/.local/share. Empty where there is none: when
/// $STRATA_TUNED is empty, nothing is remembered.
std::string tunedFolder();

/// What a mapping is found by: the name of its file without the ending.
std::string tunedKey(const Session& session, Compiler& compiler, const Machine& machine);

/// The file that a remembered mapping is in, or is to be in.
std::string tunedFile(const std::string& key);

/// Gives the session the mapping that was remembered for its program, where there is one and it asks for none.
/// REQUIRES: prepare() has gone well.
void useTuned(Session& session);

} // namespace strata::driver
