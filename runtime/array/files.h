// Symbolic configurations as files, in two forms. The text is made for people: a line for each thing, conditions as
// inequalities with the names of loops and parameters, '#' begins a comment. The binary form is packed by bits, begins
// with its magic and version and ends with a checksum. Both read back to an equal configuration. Safe to call from
// several threads.
#pragma once

#include "runtime/array/symbolic.h"

#include <string>
#include <string_view>
#include <variant>

namespace strata::array {

/// REQUIRES (both): validate(symbolic, array) is empty for some array.
std::string writeText(const Symbolic& symbolic);
std::string writeBinary(const Symbolic& symbolic);

/// Why bytes are no symbolic configuration: what was expected and what is there instead.
struct FileError {
  std::string message;
  bool isText = false;
  size_t line = 0, column = 0; // of texts, from 1; columns are bytes
  size_t offset = 0;           // of binary files, in bytes
};
/// "line 3, column 7: expected …", "byte 12: …".
std::string print(const FileError& error);

/// Takes either form. Any bytes may be given: lists are bounded (symbolic_limits.h), so that a damaged file costs no
/// more memory than a sound one. References within the file are checked; all else is validate()'s question.
std::variant<Symbolic, FileError> read(std::string_view bytes);

} // namespace strata::array
