// NumPy's .npy files: versions 1 to 3 read, in either byte order and either dimension order, and written in version 1
// (3 when a member's name is not ASCII). Everything read is checked, and every failure is a diagnostic that names the
// file.
#pragma once

#include "base/data/array.h"
#include "base/process/unfinished.h"

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

/// Says that a file cannot be read, and the system's reason.
DiagnosticBuilder reportUnreadable(DiagnosticEngine& diagnostics, const Location& where, const std::string& name,
                                   const std::string& reason);

/// A header, understood.
struct NpyHeader {
  ElementType type;
  std::vector<int64_t> shape;
  bool fortranOrder = false;
  bool bigEndian = false;
};

/// Reads a header and leaves the reader where the data begins. Where the reader knows how much is left, it must be
/// exactly what the array takes.
std::optional<NpyHeader> readNpyHeader(ByteReader& bytes, const std::string& name, DiagnosticEngine& diagnostics,
                                       const Location& where);
/// Reads the data behind a header.
std::optional<Array> readNpyData(ByteReader& bytes, const NpyHeader& header, const std::string& name,
                                 DiagnosticEngine& diagnostics, const Location& where);
/// Elements as a file has them become the machine's own: byte order, and booleans of exactly 0 or 1.
void makeNative(Array& elements, const NpyHeader& header);

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

/// A .npy file that is filled in place, for arrays that are never in memory as a whole. It has no name, or a temporary
/// one, until commit() gives it its own; without that it vanishes. One thread.
class NpyOutput {
public:
  /// For a path where nothing or a regular file stands; nothing (reported) otherwise. The header is written; the data,
  /// `bytes` zeros to begin with, is the caller's. `isNamed`: other computers are to find it (temporary()).
  static std::optional<NpyOutput> create(const std::string& path, const ElementType& type,
                                         const std::vector<int64_t>& shape, bool complexPairs,
                                         DiagnosticEngine& diagnostics, const Location& where, bool isNamed = false);
  NpyOutput(NpyOutput&& other) noexcept;
  NpyOutput& operator=(NpyOutput&&) = delete;
  ~NpyOutput();
  int file() const { return file_; }
  /// Where the data begins in it.
  uint64_t at() const { return at_; }
  /// The name that it has until then; empty: none.
  const std::string& temporary() const { return temporary_; }
  /// Gives the file its name, in place of what was there before.
  bool commit(DiagnosticEngine& diagnostics, const Location& where);

private:
  NpyOutput() = default;
  friend bool writeNpy(const std::string&, const Array&, bool, DiagnosticEngine&, const Location&);
  int file_ = -1;
  uint64_t at_ = 0;
  std::string path_;      // as asked for
  std::string final_;     // symbolic links followed
  std::string temporary_; // empty: it has no name yet
  Unfinished unfinished_; // `temporary_`
};

/// Whether an output goes where it cannot be filled in place: a device or a pipe.
bool isSpecialFile(const std::string& path);

/// Whether writeNpy could create that file, as far as can be told without doing it: for finding out before a long run.
bool checkWritable(const std::string& path, DiagnosticEngine& diagnostics, const Location& where);

/// The element type that a header's `descr` describes, in this computer's byte order; nothing when the text describes
/// none that programs have.
std::optional<ElementType> parseElementType(std::string_view description);

/// The header that writeNpy puts before the data, magic included.
std::string npyHeader(const ElementType& type, const std::vector<int64_t>& shape);

} // namespace strata
