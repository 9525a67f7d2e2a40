// C's tokens without its keywords, and numbers with the units of memory sizes.
#include "compiler/hbir/syntax/lexer.h"

#include "base/source/characters.h"
#include "base/source/display.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

namespace strata::hbir {

STRATA_DIAGNOSTIC(unknownCharacter, Error, "hbir-character", "no token begins with {0}");
STRATA_DIAGNOSTIC(notText, Error, "hbir-no-text", "the file is no text: it has a byte 0x00");
STRATA_DIAGNOSTIC(openComment, Error, "hbir-open-comment", "this comment is not closed");
STRATA_DIAGNOSTIC(badNumber, Error, "hbir-number", "'{0}' is not a number: {1}");
STRATA_DIAGNOSTIC(badText, Error, "hbir-text", "{0}");

namespace {

constexpr std::string_view punctuators[] = {"<<=", ">>=", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
                                            "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "^=", "|=", "[",  "]",
                                            "(",   ")",   "{",  "}",  ".",  "&",  "*",  "+",  "-",  "~",  "!",
                                            "/",   "%",   "<",  ">",  "^",  "|",  "?",  ":",  ";",  "=",  ","};

/// Whether a token or a comment can begin with it, or it stands between them.
bool isKnown(char c) {
  return isWordCharacter(c) || std::isspace(static_cast<unsigned char>(c)) || c == '"' || c == '\'' ||
         std::any_of(std::begin(punctuators), std::end(punctuators),
                     [c](std::string_view each) { return each[0] == c; });
}

class Lexer {
public:
  Lexer(BufferId file, DiagnosticEngine& diagnostics)
      : file_(file), text_(diagnostics.sources().buffer(file).text()), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    if (size_t zero = text_.find('\0'); zero != std::string_view::npos) {
      diagnostics_.report(notText, where(zero, zero + 1));
    } else {
      tokens_.reserve(text_.size() / 4 + 1);
      while (skipSpace())
        next();
    }
    Token end;
    end.location = where(text_.size(), text_.size());
    tokens_.push_back(end);
    return std::move(tokens_);
  }

private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Location where(size_t begin, size_t end) const {
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }

  /// Moves to the next token; false at the end.
  bool skipSpace() {
    for (; at_ < text_.size(); ++at_) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])))
        continue;
      if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      } else if (text_.substr(at_, 2) == "/*") {
        size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
          diagnostics_.report(openComment, where(at_, at_ + 2));
          at_ = text_.size();
          return false;
        }
        at_ = end + 1;
      } else {
        return true;
      }
    }
    return false;
  }

  Token& push(TokenKind kind, size_t begin) {
    Token& token = tokens_.emplace_back();
    token.kind = kind;
    token.text = text_.substr(begin, at_ - begin);
    token.location = where(begin, at_);
    return token;
  }

  void next() {
    size_t begin = at_;
    char c = peek();
    if (isWordStart(c)) {
      while (isWordCharacter(peek()))
        ++at_;
      push(TokenKind::Word, begin);
    } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
      number();
    } else if (c == '"') {
      string();
    } else if (c == '\'') {
      character();
    } else {
      punctuator();
    }
  }

  void punctuator() {
    for (std::string_view candidate : punctuators) {
      if (candidate[0] != peek())
        continue;
      if (text_.substr(at_, candidate.size()) == candidate) {
        size_t begin = at_;
        at_ += candidate.size();
        push(TokenKind::Punctuator, begin);
        return;
      }
    }
    size_t begin = at_++;
    // What follows in the same run is the same mistake: a letter of several bytes, a line of signs.
    while (at_ < text_.size() && !isKnown(peek()))
      ++at_;
    diagnostics_.report(unknownCharacter, where(begin, at_), quoteCharacters(text_.substr(begin, at_ - begin)));
  }

  void number() {
    size_t begin = at_;
    bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    if (hex)
      at_ += 2;
    bool real = false;
    while (isDigit(peek()) || (hex && std::isxdigit(static_cast<unsigned char>(peek()))))
      ++at_;
    if (!hex && peek() == '.') {
      real = true;
      ++at_;
      while (isDigit(peek()))
        ++at_;
    }
    bool sign = peek(1) == '+' || peek(1) == '-';
    if (!hex && (peek() == 'e' || peek() == 'E') && isDigit(peek(sign ? 2 : 1))) {
      real = true;
      at_ += sign ? 2 : 1;
      while (isDigit(peek()))
        ++at_;
    }
    std::string_view digits = text_.substr(begin, at_ - begin);
    size_t suffix = at_;
    while (isWordCharacter(peek()))
      ++at_;
    std::string_view unit = text_.substr(suffix, at_ - suffix);
    Token& token = push(real ? TokenKind::Real : TokenKind::Integer, begin);
    if (real || unit == "f" || unit == "F") {
      token.kind = TokenKind::Real;
      token.real = std::strtod(std::string(digits).c_str(), nullptr);
      if (!unit.empty() && unit != "f" && unit != "F")
        diagnostics_.report(badNumber, token.location, token.text, "unexpected '" + std::string(unit) + "'");
      return;
    }
    token.unit = unit;
    if (hex)
      digits.remove_prefix(2);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), token.integer, hex ? 16 : 10);
    if (error == std::errc::result_out_of_range)
      diagnostics_.report(badNumber, token.location, token.text, "it does not fit in 64 bits");
    else if (error != std::errc())
      diagnostics_.report(badNumber, token.location, token.text, "there are no digits");
  }

  void string() {
    size_t begin = at_++;
    while (at_ < text_.size() && peek() != '"' && peek() != '\n')
      at_ += peek() == '\\' && peek(1) != '\n' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    if (peek() != '"') {
      diagnostics_.report(badText, where(begin, at_), "this text is not closed on its line");
      return;
    }
    ++at_;
    Token& token = push(TokenKind::Text, begin);
    token.text = token.text.substr(1, token.text.size() - 2);
  }

  void character() {
    size_t begin = at_++;
    std::optional<char> value;
    if (peek() == '\\') {
      ++at_;
      value = readEscape(text_, at_);
    } else if (at_ < text_.size() && peek() != '\'' && peek() != '\n') {
      value = text_[at_++];
    }
    if (!value || peek() != '\'') {
      diagnostics_.report(badText, where(begin, at_), "a character stands alone between its quotes");
      return;
    }
    ++at_;
    // A char is signed; the value of 'ÿ' is -1.
    const int64_t byte = static_cast<unsigned char>(*value);
    push(TokenKind::Integer, begin).integer = byte < 128 ? byte : byte - 256;
  }

  BufferId file_;
  std::string_view text_;
  DiagnosticEngine& diagnostics_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
};

} // namespace

std::string describe(const Token& token) {
  return token.kind == TokenKind::End    ? "the end of the file"
         : token.kind == TokenKind::Text ? "a text"
                                         : "'" + std::string(token.text.substr(0, 40)) + "'";
}

std::vector<Token> tokenize(BufferId file, DiagnosticEngine& diagnostics) {
  return Lexer(file, diagnostics).run();
}

std::optional<char> readEscape(std::string_view text, size_t& at) {
  static constexpr std::string_view letters = "abfnrtv\\'\"?", values = "\a\b\f\n\r\t\v\\'\"?";
  if (at >= text.size())
    return std::nullopt;
  if (size_t letter = letters.find(text[at]); letter != std::string_view::npos) {
    ++at;
    return values[letter];
  }
  bool hex = text[at] == 'x';
  size_t begin = at + (hex ? 1 : 0);
  unsigned value = 0;
  const char* last = text.data() + std::min(begin + (hex ? 2 : 3), text.size());
  auto [end, error] = std::from_chars(text.data() + std::min(begin, text.size()), last, value, hex ? 16 : 8);
  if (error != std::errc() || value > 255)
    return std::nullopt;
  at = static_cast<size_t>(end - text.data());
  return static_cast<char>(value);
}

} // namespace strata::hbir
