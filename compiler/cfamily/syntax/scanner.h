// Walks over text in C's notation: white space and comments, words, numbers, strings and signs. A notation's lexer
// derives from it, makes its own tokens of what was taken, and reports in its own words what is none. Reads the text,
// which must outlive it; used by one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace strata::cfamily {

class Scanner {
protected:
  explicit Scanner(std::string_view text, size_t begin = 0) : text_(text), at_(begin) {}

  /// The character so far ahead; 0 behind the end.
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  /// From `begin` to what is taken next.
  std::string_view since(size_t begin) const { return text_.substr(begin, at_ - begin); }

  enum class Next : uint8_t { Token, End, OpenComment };
  /// Moves over white space and comments to what is next; to the end, or to the begin of a comment that is not closed.
  Next skipSpace();

  /// Letters, digits and underscores; empty when none is next.
  std::string_view takeWord();
  /// A number as C's preprocessor cuts it out: letters, digits and points, and a sign behind an exponent's letter.
  /// REQUIRES: a digit is next, or a point and a digit.
  struct Number {
    std::string_view text;
    bool isReal = false; // it has a point or an exponent
  };
  Number takeNumber();
  /// The longest sign of C that begins here; `further` are signs of the notation's own, longer ones first. Empty, and
  /// nothing is taken, when none does.
  std::string_view takeSign(std::span<const std::string_view> further = {});
  /// Moves behind a string that begins here, with its quotes. False: it is not closed on its line, at whose end this
  /// stops.
  bool takeString();

  /// Whether a sign of C begins with it.
  static bool beginsSign(char c);

  std::string_view text_;
  size_t at_;
};

} // namespace strata::cfamily
