// NumPy's .npy files: versions 1 to 3 read, in either byte order and either dimension order, and written in version 1
// (3 when a member's name is not ASCII). Everything read is checked, and every failure is a diagnostic that names the
// file.
#pragma once

#include "base/data/array.h"

namespace strata {

/// Where bytes come from; files and, in tests, memory.
class ByteReader {
public:
  virtual ~ByteReader() = default;
  /// Reads up to `size` bytes; 0 at the end; -1 on failure, with the system's reason in `error`.
  virtual int64_t read(void* to, size_t size, std::string& error) = 0;
  /// How many bytes are left, when that is known.
  virtual std::optional<uint64_t> left() const = 0;
};

/// Reads the array in a file. `where` is the place that asked for it (a command-line argument), or nowhere.
std::optional<Array> readNpy(const std::string& path, DiagnosticEngine& diagnostics, const Location& where);

/// The same from any bytes; `name` is what messages call them.
std::optional<Array> readNpy(ByteReader& bytes, const std::string& name, DiagnosticEngine& diagnostics,
                             const Location& where);

/// Writes the array. The file appears whole or not at all: a new file is written beside it and takes its name at the
/// end, and a failure leaves what was there before. Devices and pipes are written directly. With `complexPairs`,
/// structs of two floats or doubles are written as complex numbers.
bool writeNpy(const std::string& path, const Array& array, bool complexPairs, DiagnosticEngine& diagnostics,
              const Location& where);

/// Whether writeNpy could create that file, as far as can be told without doing it: for finding out before a long run.
bool checkWritable(const std::string& path, DiagnosticEngine& diagnostics, const Location& where);

/// The header that writeNpy puts before the data, magic included.
std::string npyHeader(const ElementType& type, const std::vector<int64_t>& shape);

} // namespace strata
