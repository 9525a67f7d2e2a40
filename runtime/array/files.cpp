// Which form a file has, and what is said of one that has none.
#include "runtime/array/files.h"
#include "runtime/array/files_structure.h"

namespace strata::array {

std::variant<Symbolic, FileError> read(std::string_view bytes) {
  try {
    const bool isBinary = bytes.starts_with(std::string_view(files::binaryMagic, sizeof files::binaryMagic));
    return isBinary ? files::readBinary(bytes) : files::readText(bytes);
  } catch (FileError& error) {
    return std::move(error);
  }
}

std::string print(const FileError& error) {
  const std::string where = error.isText
                                ? "line " + std::to_string(error.line) + ", column " + std::to_string(error.column)
                                : "byte " + std::to_string(error.offset);
  return where + ": " + error.message;
}

} // namespace strata::array
