// The words of a mapping file's brace form: names, numbers, quoted texts and signs, and the small pieces of grammar
// that are made of them. What is wrong is reported, and leaves by a SyntaxError that the reader of the block around
// catches. Reads the buffer, which must outlive it.
#pragma once

#include "compiler/sequoia/mapping_forms.h"

namespace strata::sequoia {

class MappingWords {
protected:
  struct Word {
    enum class Kind { End, Name, Number, Text, Sign } kind = Kind::End;
    std::string_view text; // Text: without its quotes
    Location location;
  };
  struct SyntaxError {};

  MappingWords(BufferId file, DiagnosticEngine& diagnostics);

  void next();
  const Word& ahead(size_t count) const { return words_[std::min(at_ + count, words_.size() - 1)]; }
  bool is(std::string_view text) const { return word_.kind != Word::Kind::Text && word_.text == text; }
  bool accept(std::string_view text);
  [[noreturn]] void fail(const std::string& wanted);
  void expect(const char* text);
  /// Expects the bracket that closes the one at word `open`.
  void expectClosing(const char* text, size_t open);
  /// Skips to the end of the item at hand.
  void recover();

  MappedName name(const char* what, bool mayHaveLexnum = false);
  MappedNumber number(const char* what);
  std::vector<int64_t> numbers();
  std::vector<MappedName> nameList();
  OptionalNumber levelInParentheses();
  void setNumber(OptionalNumber& target, const char* what, const Location& where);
  /// A file's name in quotes.
  std::string fileName(const char* what);
  /// Something that is said once at most: `where` it is said now, `before` where it was said first.
  void once(const char* what, const Location& where, Location& before);

  BufferId file_;
  DiagnosticEngine& diagnostics_;
  std::vector<Word> words_;
  size_t at_ = 0;                  // of word_
  size_t item_ = 0;                // where the item at hand begins
  size_t reportedAt_ = ~size_t(0); // the word before which something missing was reported last
  uint32_t lastEnd_ = 0;
  Word word_;

private:
  DiagnosticBuilder reportWanted(const std::string& wanted);
  /// Whether what is missing before the word at hand is all that is wrong there.
  bool mayFollowMissing() const;
  /// Whether the word is a template's question mark, which is reported and then stands for what is expected.
  bool acceptsBlank(const char* what) const;
};

} // namespace strata::sequoia
