// Shows source text on a terminal; see display.h. Widths follow Unicode's East Asian Wide ranges and combining marks in
// the coarse form that terminals agree on.
#include "base/source/display.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace strata {

namespace {

constexpr size_t tabWidth = 4;
constexpr size_t widestLine = 150; // columns of a line that are shown
constexpr size_t beforeFocus = 50; // bytes that are kept before the place in question when a line is cut
constexpr std::string_view cutMark = "…";

struct Character {
  uint32_t code = 0;
  size_t bytes = 0; // 0: not valid UTF-8 here
};

/// Decodes one character of UTF-8; refuses overlong forms, surrogates and what lies beyond Unicode.
Character decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80)
    return {lead, 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes)
    return {};
  uint32_t code = lead & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80)
      return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
    return {};
  return {code, bytes};
}

struct Range {
  uint32_t first, last;
};

template <size_t N>
bool within(const Range (&ranges)[N], uint32_t code) {
  return std::any_of(ranges, ranges + N, [&](Range range) { return code >= range.first && code <= range.last; });
}

/// Control characters, blanks that are no space, and what is invisible or turns the direction of text around.
bool hidden(uint32_t code) {
  static constexpr Range ranges[] = {{0, 0x1F},        {0x7F, 0xA0},      {0xAD, 0xAD},     {0x2000, 0x200F},
                                     {0x2028, 0x202E}, {0x2060, 0x206F},  {0x3000, 0x3000}, {0xFEFF, 0xFEFF},
                                     {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
  return within(ranges, code);
}

size_t characterWidth(uint32_t code) {
  static constexpr Range combining[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},
                                        {0x64B, 0x65F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF},
                                        {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
  static constexpr Range wide[] = {{0x1100, 0x115F},  {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xA960, 0xA97F},
                                   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                                   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF},
                                   {0x20000, 0x3FFFD}};
  return within(combining, code) ? 0 : within(wide, code) ? 2 : 1;
}

struct Shown {
  std::string text;
  size_t width = 0;
  size_t bytes = 1;
};

/// What stands on the terminal for the character at the beginning of `rest`, at the given column.
Shown show(std::string_view rest, size_t column) {
  if (rest[0] == '\t') {
    const size_t width = tabWidth - column % tabWidth;
    return {std::string(width, ' '), width, 1};
  }
  const Character character = decode(rest);
  char spelt[16];
  if (character.bytes == 0) {
    std::snprintf(spelt, sizeof spelt, "<%02X>", static_cast<unsigned>(static_cast<uint8_t>(rest[0])));
    return {spelt, 4, 1};
  }
  if (hidden(character.code)) {
    const int length = std::snprintf(spelt, sizeof spelt, character.code < 0x80 ? "<%02X>" : "<U+%04X>",
                                     static_cast<unsigned>(character.code));
    return {spelt, static_cast<size_t>(length), character.bytes};
  }
  return {std::string(rest.substr(0, character.bytes)), characterWidth(character.code), character.bytes};
}

} // namespace

size_t DisplayLine::column(size_t byte) const {
  if (byte <= firstByte)
    return firstColumn;
  const size_t index = std::min(byte - firstByte, ends.size());
  return index == 0 ? firstColumn : ends[index - 1];
}

DisplayLine displayLine(std::string_view line, size_t focus) {
  DisplayLine shown;
  focus = std::min(focus, line.size());
  if (line.size() > widestLine && focus > widestLine - beforeFocus) {
    shown.firstByte = focus - beforeFocus;
    // Begins with a whole character; four steps back suffice in valid text and bound the search in any other.
    for (int step = 0; step < 4 && (static_cast<uint8_t>(line[shown.firstByte]) & 0xC0) == 0x80; ++step)
      --shown.firstByte;
    shown.text = cutMark;
    shown.width = shown.firstColumn = 1;
  }
  size_t at = shown.firstByte;
  while (at < line.size()) {
    const Shown next = show(line.substr(at), shown.width);
    if (shown.width + next.width > widestLine) {
      shown.text += cutMark;
      ++shown.width;
      break;
    }
    shown.text += next.text;
    // Every byte of a character stands where the character begins; only after the last one is the place behind it.
    shown.ends.insert(shown.ends.end(), next.bytes - 1, shown.width);
    shown.width += next.width;
    shown.ends.push_back(shown.width);
    at += next.bytes;
  }
  return shown;
}

std::string displayText(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      out += '\n';
      ++at;
      continue;
    }
    const Shown next = show(text.substr(at), 0);
    out += next.text;
    at += next.bytes;
  }
  return out;
}

std::string quoteCharacters(std::string_view text) {
  constexpr size_t longest = 40;
  if (text.size() == 1 && displayText(text) != text) {
    char spelt[32];
    std::snprintf(spelt, sizeof spelt, "the byte 0x%02x", static_cast<unsigned>(static_cast<uint8_t>(text[0])));
    return spelt;
  }
  const std::string shown = displayText(text.substr(0, longest));
  return "'" + shown + (text.size() > longest ? "…'" : "'");
}

} // namespace strata
