// A .npy file that is open: its header has been read, its data is read when it is wanted. That is as a whole, in
// pieces, or by a caller that takes the file itself, as an array on a disk does. Owns its descriptor; may be moved. One
// thread.
#pragma once

#include "base/data/npy.h"

#include <memory>

namespace strata {

class NpyFile {
public:
  /// Opens a file and reads its header. A pipe or device can only be read once: its data is read with it.
  static std::optional<NpyFile> open(const std::string& path, DiagnosticEngine& diagnostics, const Location& where);

  const std::string& path() const { return path_; }
  const NpyHeader& header() const { return header_; }
  const std::vector<int64_t>& shape() const { return header_.shape; }
  /// Whether its data lies in a file, from `at` on; else it has been read.
  bool isRegular() const { return !loaded_; }
  int file() const;
  uint64_t at() const { return at_; }

  /// The whole array, in C order and the machine's own form. The first call takes what has been read.
  std::optional<Array> read(DiagnosticEngine& diagnostics, const Location& where);
  /// What came from a pipe or device; null for a file.
  const Array* loaded() const { return loaded_ ? &*loaded_ : nullptr; }
  /// So many elements from a position on, in the order of the file and the machine's own form. With `from`, they come
  /// from that file instead, which holds the same elements in another order and no header. REQUIRES: isRegular(), and
  /// they are in the array.
  std::optional<Array> piece(uint64_t first, uint64_t count, DiagnosticEngine& diagnostics, const Location& where,
                             int from = -1) const;

private:
  class Reader;
  NpyFile() = default;
  std::string path_;
  NpyHeader header_;
  std::shared_ptr<Reader> reader_;
  uint64_t at_ = 0;
  std::optional<Array> loaded_;
};

} // namespace strata
