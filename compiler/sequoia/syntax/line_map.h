// Where each byte of preprocessed text came from. A LineMap is made once for a program's text; it keeps no reference to
// the text of files beyond their ids, and needs the SourceManager only to look lines up. Read-only after it is made.
#pragma once

#include "base/source/source.h"

#include <string_view>
#include <vector>

namespace strata::sequoia {

class LineMap {
public:
  /// Text that is the file itself, byte for byte.
  static LineMap identity(BufferId file);
  /// Text that consists of lines of other files. `addLine` is called for each line in order.
  LineMap() = default;
  void addLine(uint32_t begin, BufferId file, uint32_t line) { lines_.push_back({begin, line, file}); }

  /// The place of bytes [begin, end) of the text. Exact where the line was not rewritten by the preprocessor; else the
  /// word of the original line that the token most plausibly came from.
  Location locate(const SourceManager& sources, std::string_view text, uint32_t begin, uint32_t end) const;

private:
  struct Line {
    uint32_t begin; // in the text
    uint32_t line;  // in the file
    BufferId file;
  };
  BufferId identity_;
  std::vector<Line> lines_; // sorted by begin
};

} // namespace strata::sequoia
