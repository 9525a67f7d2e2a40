// Windows whose elements are part of a file. Moves are reads and writes of the runs that are contiguous there: several
// short ones go on at once, long ones of a file one after another, so that the system sees it read in order. Elements
// that lie near each other in the file are read together with what is between them; nothing but the elements themselves
// is ever written.
#pragma once

#include "runtime/core/window.h"

#include <string>

namespace strata::runtime {

/// `file` is closed with the window; the window's first byte is at `at` in it. `name` is what messages call it.
/// A failed or short transfer ends the program: "runtime-file-read", "runtime-file-write", "runtime-file-short".
std::unique_ptr<WindowBackend> fileBackend(int file, int64_t at, const std::string& name);

} // namespace strata::runtime
