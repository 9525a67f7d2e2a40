// Files that hold data for a while and vanish with the process: they have no name, and their space is set aside when
// they are made, so that no write into them finds the disk full. Any thread.
#pragma once

#include <cstdint>
#include <string>

namespace strata::runtime {

/// Where scratch files are made: what setScratchFolder said, else $TMPDIR, else /tmp.
std::string scratchFolder();
void setScratchFolder(const std::string& folder);

/// An open file of `bytes` zero bytes, which the caller closes, or -1 with the system's error number.
struct ScratchFile {
  int file = -1;
  int error = 0;
};
ScratchFile makeScratchFile(int64_t bytes);

/// Sets space aside for a file's first bytes; 0, or the system's error number. No signal comes of it.
int reserveFileSpace(int file, int64_t bytes);

} // namespace strata::runtime
