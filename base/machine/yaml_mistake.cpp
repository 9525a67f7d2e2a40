// Looks at the lines one by one: a line holds a field, 'name: value', or an entry of a list, '- …', unless it continues
// a text or what is in brackets. What continues brackets is indented deeper than the line in which they begin.
#include "base/machine/yaml_mistake.h"

#include "base/source/characters.h"

#include <vector>

namespace strata::machine {

namespace {

constexpr size_t npos = std::string_view::npos;

/// The end of a line's text, without the comment and the blanks behind it.
size_t endOfText(std::string_view line) {
  char quote = 0;
  size_t end = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char each = line[i];
    if (quote != 0)
      quote = each == quote ? 0 : quote;
    else if (each == '"' || each == '\'')
      quote = each;
    else if (each == '#' && (i == 0 || line[i - 1] == ' '))
      return end;
    if (each != ' ' && each != '\t' && each != '\r')
      end = i + 1;
  }
  return end;
}

/// Where the name of a field ends that begins at `at`; npos when no ':' follows it.
size_t endOfName(std::string_view line, size_t at) {
  const size_t colon = line.find(':', at);
  if (colon == npos || (colon + 1 < line.size() && line[colon + 1] != ' '))
    return npos;
  for (size_t i = at; i < colon; ++i)
    if (!isWordCharacter(line[i]) && line[i] != '-')
      return npos;
  return colon;
}

/// What is known of the line before.
struct Line {
  size_t begin = 0, indent = ~size_t(0); // of its field, behind the '-' of an entry
  size_t endOfWord = 0;
  bool isWords = false;  // an entry without a field
  bool hasValue = false; // a field with a value
};

} // namespace

std::optional<YamlMistake> findYamlMistake(std::string_view text, size_t stoppedAt) {
  std::vector<size_t> open; // brackets
  size_t last = 0;          // the end of the text so far
  size_t outermost = 0;     // the indentation of the line in which the first of the open brackets is
  Line before;
  for (size_t begin = 0; begin <= stoppedAt && begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view whole = text.substr(begin, end - begin);
    const std::string_view line = whole.substr(0, endOfText(whole));
    size_t at = line.find_first_not_of(' ');
    if (at != npos) {
      const size_t indent = at;
      const bool isEntry = line[at] == '-' && (at + 1 == line.size() || line[at + 1] == ' ');
      while (at < line.size() && line[at] == '-' && (at + 1 == line.size() || line[at + 1] == ' '))
        at = std::min(line.find_first_not_of(' ', at + 1), line.size());
      const size_t name = endOfName(line, at);
      const bool startsItem = isEntry || name != npos;
      if (startsItem && !open.empty() && indent <= outermost && line.find_first_of("[]{}") != 0)
        return YamlMistake{last, text[open.back()] == '[' ? "']' is missing" : "'}' is missing", open.back()};
      if (startsItem && !open.empty() && std::string_view(",:[{").find(text[last - 1]) == npos)
        return YamlMistake{last, "',' is missing", {}};
      if (!startsItem && open.empty() && at < line.size() && isWordStart(line[at])) {
        size_t word = at;
        while (word < line.size() && isWordCharacter(line[word]))
          ++word;
        if (word == line.size() || line[word] == ' ')
          return YamlMistake{begin + word, "':' is missing after the name of a field", {}};
      }
      if (name != npos && open.empty() && at >= before.indent && before.isWords)
        return YamlMistake{before.endOfWord, "':' is missing after the name of a field", {}};
      if (name != npos && open.empty() && at > before.indent && before.hasValue)
        return YamlMistake{before.begin,
                           "the field in the next line is indented deeper than this one: one of the two is indented "
                           "wrongly, or '-' is missing here",
                           {}};
      before = {begin + at, at, begin + std::min(line.find(' ', at), line.size()), isEntry && name == npos,
                name != npos && name + 1 < line.size()};
      for (size_t i = at; i < line.size(); ++i) {
        if (line[i] == '[' || line[i] == '{') {
          if (open.empty())
            outermost = at;
          open.push_back(begin + i);
        } else if (line[i] == ']' || line[i] == '}') {
          if (open.empty())
            return YamlMistake{begin + i, line[i] == ']' ? "']' closes no '['" : "'}' closes no '{'", {}};
          if ((text[open.back()] == '[') != (line[i] == ']'))
            return YamlMistake{begin + i, text[open.back()] == '[' ? "']' is missing" : "'}' is missing", open.back()};
          open.pop_back();
        }
      }
      last = begin + line.size();
    }
    begin = end + 1;
  }
  if (!open.empty())
    return YamlMistake{last, text[open.back()] == '[' ? "']' is missing" : "'}' is missing", open.back()};
  return std::nullopt;
}

} // namespace strata::machine
