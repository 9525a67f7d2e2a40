// Source text and places in it. A SourceManager owns every file that one run of Strata reads (program, headers,
// machine, mapping, dialect text); a Location is a range of bytes in one of them. Not thread safe: one per compilation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// What a file is to the user; messages say "program", "machine", "mapping", … where the name alone is not enough.
enum class SourceKind { Program, Machine, Mapping, Data, CommandLine };

/// Identifies a file within its SourceManager. Small and cheap to copy.
struct BufferId {
  static constexpr uint32_t None = ~uint32_t(0);
  uint32_t value = None;
  bool valid() const { return value != None; }
  friend bool operator==(BufferId, BufferId) = default;
};

/// The bytes [begin, end) of one file. A default one names no place.
struct Location {
  BufferId buffer;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool valid() const { return buffer.valid(); }
  friend bool operator==(const Location&, const Location&) = default;
};

/// A place as people count: line and column begin at 1; a column counts bytes.
struct LineColumn {
  uint32_t line = 0;
  uint32_t column = 0;
  friend bool operator==(LineColumn, LineColumn) = default;
};

/// One file's text, with an index of its lines. Immutable once made.
class SourceBuffer {
public:
  SourceBuffer(std::string name, std::string text, SourceKind kind);
  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  SourceKind kind() const { return kind_; }
  /// REQUIRES: offset <= text().size().
  LineColumn lineColumn(uint32_t offset) const;
  /// The text of a line, without its line break; empty when there is no such line.
  std::string_view line(uint32_t line) const;
  /// The offset at which a line begins; text().size() when there is no such line.
  uint32_t lineBegin(uint32_t line) const;
  uint32_t lineCount() const { return static_cast<uint32_t>(lineBegins_.size()); }

private:
  std::string name_;
  std::string text_;
  SourceKind kind_;
  std::vector<uint32_t> lineBegins_;
};

/// Owns the buffers. References to buffers stay valid as long as the manager lives.
class SourceManager {
public:
  /// Adds text under a name. Texts of 4 GiB and more are refused by the readers before they get here.
  BufferId add(std::string name, std::string text, SourceKind kind);
  /// Reads a file. On failure returns an invalid id and sets `error` to the system's reason ("no such file or
  /// directory").
  BufferId load(const std::string& path, SourceKind kind, std::string& error);
  /// The buffer already added under that name, or an invalid id.
  BufferId find(std::string_view name) const;
  const SourceBuffer& buffer(BufferId id) const;
  LineColumn lineColumn(const Location& location) const;
  /// A location that covers one byte at line and column (clamped to the file), for places known only as numbers.
  Location at(BufferId id, uint32_t line, uint32_t column) const;

private:
  std::vector<std::unique_ptr<SourceBuffer>> buffers_;
  std::map<std::string, BufferId, std::less<>> byName_;
};

} // namespace strata
