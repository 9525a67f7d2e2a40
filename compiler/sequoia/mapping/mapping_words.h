// The words of a mapping file's brace form: names, numbers, quoted texts and signs, and the small pieces of grammar
// that are made of them. What is missing or wrong is reported as in the other notations (token_reader.h). Reads the
// buffer, which must outlive it.
#pragma once

#include "base/source/token_reader.h"
#include "compiler/sequoia/mapping/mapping_forms.h"

namespace strata::sequoia {

struct MapWord {
  enum class Kind : uint8_t { End, Name, Number, Text, Sign } kind = Kind::End;
  std::string_view text; // Text: without its quotes
  Location location;
};

inline bool spells(const MapWord& word, std::string_view text) {
  return word.kind != MapWord::Kind::Text && word.kind != MapWord::Kind::End && word.text == text;
}
inline bool isWord(const MapWord& word) {
  return word.kind == MapWord::Kind::Name;
}
inline std::string describe(const MapWord& word) {
  return word.kind == MapWord::Kind::End ? "the end of the file" : "'" + std::string(word.text) + "'";
}

/// All words of a file, ended by an End; missing braces are reported and put in.
std::vector<MapWord> mapWords(BufferId file, DiagnosticEngine& diagnostics);

class MappingWords : protected TokenReader<MapWord> {
protected:
  MappingWords(const std::vector<MapWord>& words, DiagnosticEngine& diagnostics);

  /// Fails where one of the words is wanted that `wanted` has in quotes.
  [[noreturn]] void failItem(std::string_view wanted);
  MappedName name(std::string_view what, bool mayHaveLexnum = false);
  MappedNumber number(std::string_view what);
  std::vector<int64_t> numbers();
  std::vector<MappedName> nameList(std::string_view after);
  OptionalNumber levelInParentheses(std::string_view after);
  /// The ';' behind a number, which is written out and not computed.
  void endOfNumber(std::string_view after);
  void setNumber(OptionalNumber& target, const char* what, const Location& where);
  /// A file's name in quotes.
  std::string fileName(std::string_view what);
  /// Something that is said once at most: `where` it is said now, `before` where it was said first.
  void once(const char* what, const Location& where, Location& before);

private:
  /// Whether the word is a template's question mark, which is reported and then stands for what is expected.
  bool acceptsBlank(std::string_view what) const;
};

} // namespace strata::sequoia
