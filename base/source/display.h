// How a line of source is shown on a terminal: tabs expanded, bytes that do not print spelt out, overlong lines cut to
// a window, and a map from bytes to columns so that markers stand under what they mark. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// A line, or the part of it that is shown.
struct DisplayLine {
  std::string text;         // valid UTF-8 without control characters
  size_t firstByte = 0;     // the line's byte that the window begins with
  size_t firstColumn = 0;   // where that byte stands in `text`: after the mark of a cut, if there is one
  std::vector<size_t> ends; // for every byte of the window, the column after it
  size_t width = 0;         // columns of `text`, marks of cuts included

  /// The column at which a byte of the line begins; places outside the window go to its nearer edge.
  size_t column(size_t byte) const;
};

/// Shows a line; when it is too long, the part around the byte `focus`.
DisplayLine displayLine(std::string_view line, size_t focus);

/// Text that is safe on a terminal: as displayLine, without cutting; line breaks stay.
std::string displayText(std::string_view text);

/// Characters as a message names them: in quotes, or as bytes where they do not show.
std::string quoteCharacters(std::string_view text);

} // namespace strata
