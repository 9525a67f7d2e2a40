// Looks up lines, and aligns a line that macros have changed with the line as the user wrote it.
#include "compiler/sequoia/syntax/line_map.h"

#include "base/source/characters.h"

#include <algorithm>
#include <cctype>

namespace strata::sequoia {

namespace {

bool isSpace(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

size_t wordEnd(std::string_view line, size_t begin) {
  size_t end = begin;
  while (end < line.size() && isWordCharacter(line[end]))
    ++end;
  return end == begin ? std::min(begin + 1, line.size()) : end;
}

/// Where `token` stands in `line` at or after `from`, as a whole word if it is one; npos when it does not.
size_t findToken(std::string_view line, std::string_view token, size_t from) {
  for (size_t at = line.find(token, from); at != std::string_view::npos; at = line.find(token, at + 1)) {
    if (!isWordCharacter(token[0]))
      return at;
    bool begins = at == 0 || !isWordCharacter(line[at - 1]);
    bool ends = at + token.size() == line.size() || !isWordCharacter(line[at + token.size()]);
    if (begins && ends)
      return at;
  }
  return std::string_view::npos;
}

/// The bytes of `original` that the token at `column` of `rewritten` came from.
std::pair<size_t, size_t> align(std::string_view rewritten, std::string_view original, size_t column) {
  size_t reached = 0;
  for (size_t at = 0; at < rewritten.size();) {
    if (isSpace(rewritten[at])) {
      ++at;
      continue;
    }
    size_t end = wordEnd(rewritten, at);
    size_t found = findToken(original, rewritten.substr(at, end - at), reached);
    if (end > column) {
      if (found != std::string_view::npos)
        return {found, found + (end - at)};
      break;
    }
    if (found != std::string_view::npos)
      reached = found + (end - at);
    at = end;
  }
  while (reached < original.size() && isSpace(original[reached]))
    ++reached;
  return {reached, wordEnd(original, reached)};
}

} // namespace

LineMap LineMap::identity(BufferId file) {
  LineMap map;
  map.identity_ = file;
  return map;
}

Location LineMap::locate(const SourceManager& sources, std::string_view text, uint32_t begin, uint32_t end) const {
  if (identity_.valid())
    return {identity_, begin, end};
  auto next = std::upper_bound(lines_.begin(), lines_.end(), begin,
                               [](uint32_t offset, const Line& line) { return offset < line.begin; });
  if (next == lines_.begin())
    return {};
  const Line& line = *std::prev(next);
  const SourceBuffer& buffer = sources.buffer(line.file);
  std::string_view original = buffer.line(line.line);
  uint32_t originalBegin = buffer.lineBegin(line.line);
  size_t lineEnd = next == lines_.end() ? text.size() : next->begin;
  std::string_view rewritten = text.substr(line.begin, lineEnd - line.begin);
  if (!rewritten.empty() && rewritten.back() == '\n')
    rewritten.remove_suffix(1);
  // The end of the text stands behind the break of its last line.
  const size_t column = std::min<size_t>(begin - line.begin, rewritten.size());
  const size_t columnEnd = std::clamp<size_t>(end - line.begin, column, rewritten.size());
  if (original.substr(0, columnEnd) == rewritten.substr(0, columnEnd))
    return {line.file, originalBegin + static_cast<uint32_t>(column), originalBegin + static_cast<uint32_t>(columnEnd)};
  auto [from, to] = align(rewritten, original, column);
  return {line.file, originalBegin + static_cast<uint32_t>(from), originalBegin + static_cast<uint32_t>(to)};
}

} // namespace strata::sequoia
